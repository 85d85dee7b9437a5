"""The pages of notices: what was told, what is wanted, and nothing of anybody else."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from surfaces.models import AuditEvent, Notice, NoticeDelivery, NoticeRule, Operator
from tests.factories import NOON, make_account, make_operator
from tests.surfaces.notices.factories import go_round, make_hearer, make_item, make_items, make_rule
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = pytest.mark.django_db
GIVEN = {
    "channel": "mail", "hears_items": "on", "hears_expiring": "on", "expires_minutes": "30",
    "down_minutes": "10", "min_risk": "0", "pace": "once", "every_hours": "4", "is_on": "on",
    "urgent_breaks": "on",
}  # fmt: skip
RULES = "/settings/notices/"


@pytest.fixture
def ana() -> Operator:
    return make_hearer(username="ana", role="viewer")


@pytest.fixture
def at_desk(client: Client, ana: Operator, settings: Any) -> Client:
    settings.MAIL_IS_SET_UP = True
    client.force_login(ana)
    return client


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def test_the_bell_counts_what_nobody_read(at_desk: Client, ana: Operator, clock: Any):
    make_rule(ana, channel="page")
    make_items(3)
    go_round(clock)
    shown = text(at_desk.get("/ledger/"))
    assert re.search(r'id="bell".*?<span class="n">3<span class="sr">unread', shown)
    at_desk.post(reverse("surfaces:read_notices"), {"through": Notice.objects.latest("id").pk})
    assert not re.search(r'id="bell"[^§]{0,400}unread', text(at_desk.get("/ledger/")))


def test_one_is_read_alone_and_nobody_elses(at_desk: Client, ana: Operator, clock: Any):
    make_rule(ana, channel="page")
    make_rule(make_operator(username="jonas"), channel="page")
    make_items(2)
    go_round(clock)
    mine, other = (Notice.objects.filter(operator__username=n).first() for n in ("ana", "jonas"))
    assert mine
    assert other
    for notice in (mine, other):
        at_desk.post(reverse("surfaces:read_notices"), {"pk": notice.pk})
    assert Notice.objects.filter(read_at=None, operator=ana).count() == 1
    assert Notice.objects.filter(read_at=None, operator__username="jonas").count() == 2


def test_what_is_out_of_reach_is_not_shown_any_more(at_desk: Client, ana: Operator, clock: Any):
    here, elsewhere = make_account(), make_account()
    make_rule(ana, channel="page")
    make_item(here, words="seen here")
    make_item(elsewhere, words="seen elsewhere")
    go_round(clock)
    ana.surfaces.add(here.surface)
    for place in ("/notices/", RULES):
        shown = text(at_desk.get(place))
        assert "seen here" in shown
        assert "seen elsewhere" not in shown


def test_an_empty_page_says_what_to_do(at_desk: Client):
    assert "No notifications yet" in text(at_desk.get("/notices/"))
    assert "No rules yet" in text(at_desk.get(RULES))


@pytest.mark.parametrize("place", ["/notices/", RULES])
def test_a_full_page_asks_no_more_than_an_empty_one(
    at_desk: Client, ana: Operator, clock: Any, place: str
):
    make_rule(ana, channel="page")
    for _ in range(60):
        make_item()
    go_round(clock)
    at_desk.get(place)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        shown = text(at_desk.get(place))
    assert len(asked) <= 12, [one["sql"][:90] for one in asked]
    assert 'data-page="older"' in shown


def test_pages_go_on_by_key(at_desk: Client, ana: Operator, clock: Any):
    make_rule(ana, channel="page")
    make_items(60)
    go_round(clock)
    first = text(at_desk.get("/notices/"))
    (older,) = re.findall(r'rel="next" href="(\?before=\d+)"', first)
    second = text(at_desk.get(f"/notices/{older}"))
    assert first.count('<li id="notice-') == 50
    assert second.count('<li id="notice-') == 10
    assert at_desk.get("/notices/?before=garbage&after=-1").status_code == 400


def test_hostile_words_stay_words(at_desk: Client, ana: Operator, clock: Any):
    make_rule(ana, channel="page")
    make_item(author="<b>x", words="<script>alert(1)</script>")
    go_round(clock)
    shown = text(at_desk.get("/notices/"))
    assert "<script>alert" not in shown
    assert "&lt;script&gt;" in shown


# ── rules ─────────────────────────────────────────────────────────────────


def test_a_rule_is_added_changed_switched_and_taken_away(
    at_desk: Client, ana: Operator, clock: Any
):
    old = make_item()
    assert at_desk.post(RULES + "add", GIVEN).status_code == 302
    rule = NoticeRule.objects.get(operator=ana)
    assert (rule.channel, rule.from_item, rule.hears_down) == ("mail", old.pk, False)
    quiet = {"quiet_from": "22:00", "quiet_to": "08:00", "min_risk": "2"}
    assert at_desk.post(f"{RULES}{rule.pk}/", GIVEN | quiet).status_code == 302
    shown = text(at_desk.get(RULES))
    assert "quiet from 22:00 to 08:00" in shown
    assert "high risk" in shown
    at_desk.post(f"{RULES}{rule.pk}/switch", {"on": "0"})
    rule.refresh_from_db()
    assert not rule.is_on
    at_desk.post(f"{RULES}{rule.pk}/remove")
    assert NoticeRule.objects.count() == 1  # the last one stays
    make_rule(ana)
    at_desk.post(f"{RULES}{rule.pk}/remove")
    assert not NoticeRule.objects.filter(pk=rule.pk).exists()
    done = AuditEvent.objects.filter(actor="operator:ana").order_by("id")
    assert list(done.values_list("action", flat=True)) == [
        "notice_rule.added", "notice_rule.changed", "notice_rule.switched_off",
        "notice_rule.removed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"quiet_from": "22:00"}, "Quiet hours need both ends, or none."),
        ({"quiet_from": "22:00", "quiet_to": "22:00"}, "must end at another hour"),
        ({"pace": "daily"}, "Enter the hour of the daily digest."),
        ({"expires_minutes": "0"}, "Enter 1 to 1440 minutes."),
        ({"expires_minutes": "9999"}, "Enter 1 to 1440 minutes."),
        ({"channel": "pigeon"}, "Select a valid choice"),
        ({"channel": "webhook", "url": "http://example.org/"}, "Use https"),
        ({"channel": "webhook", "url": "https://10.0.0.1/"}, "a private address"),
        ({"channel": "webhook", "url": ""}, "Enter a full URL"),
        ({"hears_items": "", "hears_expiring": ""}, "Choose at least one event"),
        ({"kinds": "secrets"}, "Select one of the listed options."),
        ({"min_risk": "7"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_used_is_said(at_desk: Client, settings: Any, wrong: Any, said: str):
    settings.WAKE_PRIVATE_ADDRESSES = False
    response = at_desk.post(RULES + "add", GIVEN | wrong)
    assert response.status_code == 422
    assert said in text(response)
    assert not NoticeRule.objects.exists()


def test_without_mail_a_rule_by_mail_is_refused_and_the_way_is_said(client: Client, settings: Any):
    settings.MAIL_IS_SET_UP = False
    client.force_login(make_hearer(role="admin"))
    assert "EMAIL_URL=smtp://" in text(client.get(RULES))
    assert "Email is not configured" in text(client.post(RULES + "add", GIVEN))
    assert not NoticeRule.objects.exists()


def test_the_secret_of_a_webhook_is_shown_once(at_desk: Client, settings: Any):
    response = at_desk.post(
        RULES + "add", GIVEN | {"channel": "webhook", "url": "https://h.example/x?k=1"}
    )
    (secret,) = re.findall(r"whsec_[\w+/=]+", text(response))
    rule = NoticeRule.objects.get()
    shown = text(at_desk.get(f"{RULES}{rule.pk}/"))
    assert secret not in shown
    renewed = text(at_desk.post(f"{RULES}{rule.pk}/secret"))
    assert secret not in renewed
    assert "whsec_" in renewed
    ledger = str(list(AuditEvent.objects.values_list("facts", flat=True)))
    assert "whsec" not in ledger
    assert "k=1" not in ledger


def test_nobody_touches_the_rules_of_another(at_desk: Client):
    rule = make_rule()
    for act in ("", "switch", "remove", "test", "secret"):
        assert at_desk.post(f"{RULES}{rule.pk}/{act}", GIVEN).status_code == 404
    assert at_desk.get(f"{RULES}{rule.pk}/").status_code == 404


def test_a_test_goes_out_and_its_fate_is_shown(
    at_desk: Client, ana: Operator, smtp: Any, clock: Any
):
    rule = make_rule(ana)
    assert at_desk.post(f"{RULES}{rule.pk}/test").status_code == 302
    assert "A test is on its way already." in text(
        at_desk.post(f"{RULES}{rule.pk}/test", follow=True)
    )
    delivery = NoticeDelivery.objects.get()
    clock.now = delivery.due_at
    go_round(clock)
    assert smtp.got[0].subject == "[Colloquy] Test"
    assert "delivered" in text(at_desk.get(f"{RULES}{rule.pk}/"))


def test_silence_has_its_reason(at_desk: Client, ana: Operator, clock: Any):
    rule = make_rule(ana, quiet_from="11:00", quiet_to="14:00")
    item = make_item()
    go_round(clock)
    assert "Postponed: quiet hours." in text(at_desk.get(RULES))
    item.delete()
    clock.pass_by(hours=3)
    go_round(clock)
    assert "The item was decided before the notification was sent." in text(at_desk.get(RULES))
    assert rule.notices.get().due_at == NOON + timedelta(hours=2)


def test_who_begins_to_listen_is_not_told_of_what_was_there(
    at_desk: Client, ana: Operator, clock: Any
):
    rule = make_rule(ana, channel="page", hears_items=False)
    make_items(3)
    at_desk.post(f"{RULES}{rule.pk}/", GIVEN)
    new = make_item()
    go_round(clock)
    assert [notice.desk_item for notice in Notice.objects.filter(operator=ana)] == [new.pk]


def test_a_new_rule_starts_in_the_app_which_needs_nothing_set_up(at_desk: Client):
    page = text(at_desk.get(RULES + "add"))
    assert re.search(r'value="page"[^>]*checked', page)


def test_a_test_is_said_to_be_queued_until_it_was_delivered(at_desk: Client, ana: Operator):
    rule = make_rule(ana)
    page = text(at_desk.post(f"{RULES}{rule.pk}/test", follow=True))
    assert "Test queued. The result appears under Deliveries." in page
