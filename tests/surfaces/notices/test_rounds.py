"""What begins to wait is told to those who asked, once, and to nobody who may not see it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from surfaces.extension_points import Extension
from surfaces.models import DeskItem, DeskViewer, Notice, NoticeDelivery, NoticeRule
from surfaces.notices.system_events import SystemEvent
from surfaces.pauses import services as pause_services
from tests.factories import NOON, make_account, make_draft, make_operator, make_surface
from tests.surfaces.notices.factories import (
    go_round,
    make_hearer,
    make_item,
    make_items,
    make_rule,
    told,
)
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_what_begins_to_wait_is_mailed_once_with_a_link_for_each(smtp: Any, clock: Any):
    rule = make_rule()
    items = [make_item(), make_item(risk=2)]
    assert go_round(clock).told == 1
    clock.pass_by(minutes=30)
    assert go_round(clock).told == 0
    (mail,) = smtp.got
    assert mail.to == [rule.operator.email]
    assert mail.subject == "[Colloquy] 2 items need a decision"
    for item in items:
        assert f"/desk/draft/{item.item_id}/\n" in mail.text
    assert [notice.state for notice in told(rule.operator)] == ["told", "told"]


def test_a_real_draft_comes_from_its_table_to_the_mail(smtp: Any, clock: Any):
    make_rule()
    draft = make_draft()
    go_round(clock)
    assert f"/desk/draft/{draft.pk}/" in smtp.got[0].text


def test_what_waited_before_the_rule_is_no_news(smtp: Any, clock: Any):
    old = make_item()
    make_rule(from_item=old.pk)
    go_round(clock)
    assert smtp.got == []


def test_a_thing_that_comes_back_to_the_desk_is_news_again(smtp: Any, clock: Any):
    make_rule()
    draft = make_draft()
    go_round(clock)
    draft.advance("withdrawn")
    draft.advance("waiting")
    clock.pass_by(minutes=10)
    go_round(clock)
    assert len(smtp.got) == 2


def test_a_thousand_things_become_one_mail(smtp: Any, clock: Any):
    rule = make_rule()
    make_items(1_000)
    assert go_round(clock).told == 1
    (mail,) = smtp.got
    assert mail.subject == "[Colloquy] 1000 items need a decision"
    assert mail.text.count("/desk/draft/") == 20
    assert "And 980 more." in mail.text
    assert len(mail.raw) < 20_000
    assert Notice.objects.filter(rule=rule, state="told").count() == 1_000
    assert NoticeDelivery.objects.get().count == 1_000


def test_what_comes_a_minute_later_waits_for_company(smtp: Any, clock: Any):
    make_rule()
    for _ in range(4):
        make_item()
        go_round(clock)
        clock.pass_by(minutes=1)
    assert len(smtp.got) == 1
    clock.pass_by(minutes=2)
    go_round(clock)
    assert [mail.subject for mail in smtp.got][1:] == ["[Colloquy] 3 items need a decision"]


# ── who hears ─────────────────────────────────────────────────────────────


def test_a_limited_operator_never_hears_of_what_it_may_not_see(smtp: Any, clock: Any):
    here, elsewhere = make_account(), make_account()
    limited = make_hearer()
    limited.surfaces.add(here.surface)
    make_rule(limited, down_minutes=0)
    seen = make_item(here)
    make_item(elsewhere)
    make_item(elsewhere, expires_at=NOON + timedelta(minutes=5))
    elsewhere.becomes("down", now=NOON)
    go_round(clock)
    assert [notice.desk_item for notice in told(limited)] == [seen.pk]
    assert smtp.got[0].subject == "[Colloquy] 1 item needs a decision"
    assert elsewhere.name not in smtp.got[0].text


def test_who_lost_sight_of_it_meanwhile_does_not_hear_of_it(smtp: Any, clock: Any):
    person = make_hearer()
    make_rule(person, pace="hours", every_hours=4)
    make_item()
    go_round(clock)
    person.surfaces.add(make_surface())
    clock.pass_by(hours=5)
    go_round(clock)
    assert smtp.got == []
    (notice,) = told(person)
    assert (notice.state, str(notice.why)) == ("dropped", "You no longer have access to it.")


def test_who_may_not_sign_in_hears_nothing(smtp: Any, clock: Any):
    make_rule(make_hearer(is_active=False))
    make_item()
    go_round(clock)
    assert smtp.got == []


@pytest.mark.parametrize(
    ("wish", "is_told"),
    [
        ({"kinds": ["suspect"]}, False),
        ({"kinds": ["draft"]}, True),
        ({"min_risk": 2}, False),
        ({"min_risk": 1}, True),
        ({"agents": ["iris"]}, True),
        ({"agents": ["otto"]}, False),
        ({"hears_items": False}, False),
        ({"is_on": False}, False),
    ],
)
def test_a_rule_narrows(smtp: Any, clock: Any, wish: dict[str, Any], is_told: bool):
    make_rule(**wish)
    make_item(risk=1, agent="iris")
    go_round(clock)
    assert bool(smtp.got) == is_told


def test_a_rule_of_one_surface_is_silent_about_another(smtp: Any, clock: Any):
    here = make_account()
    make_rule().surfaces.add(here.surface)
    make_item(here)
    make_item()
    go_round(clock)
    assert smtp.got[0].subject == "[Colloquy] 1 item needs a decision"


def test_two_rules_of_one_way_tell_one_thing_once(smtp: Any, clock: Any):
    person = make_hearer()
    make_rule(person)
    make_rule(person, min_risk=0)
    make_item()
    go_round(clock)
    assert len(smtp.got) == 1


def test_who_has_no_rule_begins_with_a_quiet_one(clock: Any):
    person = make_operator()
    go_round(clock)
    rule = NoticeRule.objects.get(operator=person)
    assert (rule.channel, rule.hears_items, rule.hears_expiring) == ("page", False, True)
    go_round(clock)
    assert NoticeRule.objects.count() == 1


# ── already handled ───────────────────────────────────────────────────────


def test_what_somebody_handled_before_the_hour_is_not_told(smtp: Any, clock: Any):
    from surfaces.drafts import services as draft_services

    rule = make_rule(pace="hours", every_hours=4)
    draft = make_draft()
    go_round(clock)
    draft_services.withdraw(draft, by="operator:jonas", why="No.", now=clock())
    clock.pass_by(hours=5)
    go_round(clock)
    assert smtp.got == []
    (notice,) = told(rule.operator)
    assert notice.state == "handled"
    assert str(notice.why) == "jonas decided first: draft withdrawn."


def test_what_a_colleague_has_open_waits_until_they_are_done(smtp: Any, clock: Any):
    rule, item = make_rule(), make_item()
    jonas = make_operator(username="jonas")
    until = NOON + timedelta(minutes=5)
    DeskViewer.objects.create(
        kind=item.kind, item_id=item.item_id, operator=jonas, since=NOON, until=until
    )
    go_round(clock)
    assert smtp.got == []
    (notice,) = told(rule.operator)
    assert (notice.due_at, str(notice.why)) == (until, "Postponed: jonas has the item open.")
    clock.pass_by(minutes=6)
    go_round(clock)
    assert len(smtp.got) == 1


def test_what_somebody_looks_at_later_is_told_later(smtp: Any, clock: Any):
    make_rule()
    make_item(later_until=NOON + timedelta(hours=4), later_by="operator:jonas")
    go_round(clock)
    assert smtp.got == []
    clock.pass_by(hours=4)
    go_round(clock)
    assert len(smtp.got) == 1


# ── expiry, the house ─────────────────────────────────────────────────────


def test_what_is_about_to_expire_is_told_once_and_not_too_early(smtp: Any, clock: Any):
    rule = make_rule(hears_items=False, expires_minutes=30)
    item = make_item(expires_at=NOON + timedelta(hours=1))
    go_round(clock)
    assert smtp.got == []
    for minutes in (31, 7, 7):
        clock.pass_by(minutes=minutes)
        go_round(clock)
    (mail,) = smtp.got
    assert mail.subject == "[Colloquy] 1 expires soon"
    assert "2026-11-21 13:00 UTC" in mail.text
    assert [(n.reason, n.desk_item) for n in told(rule.operator)] == [("expires", item.pk)]


def test_what_expired_already_is_not_announced(smtp: Any, clock: Any):
    make_rule(hears_items=False)
    make_item(expires_at=NOON - timedelta(minutes=1))
    go_round(clock)
    assert smtp.got == []


def test_a_long_pause_of_everything_is_told_to_everybody_once(smtp: Any, clock: Any):
    limited = make_hearer()
    limited.surfaces.add(make_surface())
    make_rule(limited)
    pause_services.pause("all", "", why="storm", by="operator:mira", now=NOON)
    for _ in range(3):
        clock.pass_by(hours=2)
        go_round(clock)
    (mail,) = smtp.got
    assert mail.subject == "[Colloquy] sending is paused"


def about_money(now: Any) -> list[SystemEvent]:
    return [SystemEvent(key=f"budget:{now:%F}", words="Iris has spent all of today.", since=NOON)]


def broken_source(now: Any) -> list[SystemEvent]:
    raise ValueError("oops")


EXTENSION = Extension(notice_sources=(broken_source, about_money))


def test_other_parts_of_the_house_are_heard_once_and_by_who_sees_everything(
    smtp: Any, clock: Any, settings: Any
):
    settings.EXTENSIONS = [*settings.EXTENSIONS, f"{__name__}.EXTENSION"]
    limited = make_hearer()
    limited.surfaces.add(make_surface())
    make_rule(limited)
    rule = make_rule()
    go_round(clock)
    go_round(clock)
    (mail,) = smtp.got
    assert mail.to == [rule.operator.email]
    assert "Iris has spent all of today." in mail.text


def test_the_page_is_told_without_any_mail(smtp: Any, clock: Any):
    person = make_hearer()
    make_rule(person, channel="page")
    item = make_item()
    go_round(clock)
    (notice,) = Notice.objects.on_page(person).unread()
    assert notice.state == "told"
    DeskItem.objects.filter(pk=item.pk).delete()
    go_round(clock)
    assert not Notice.objects.on_page(person).unread().exists()
    assert smtp.got == []
