"""The desk's pages and acts, as a browser without script sends them, and as htmx does."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from threading import Barrier, Thread

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surfaces.models import Account, AuditEvent, DeskItem, Draft, InstanceSettings
from surfaces.pauses import services as pause_services
from tests.factories import make_account, make_draft, make_message, make_operator, make_surface

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
MOST_QUERIES = 12


def one_of_each() -> dict[str, int]:
    now = timezone.now()
    account = make_account()
    Account.objects.filter(pk=account.pk).update(state="auth_failed", state_why="401")
    return {
        "draft": make_draft(made_at=now, agent="iris").pk,
        "lapsed": make_draft(made_at=now, stale_why="The comment was edited.", stale_at=now).pk,
        "failed": make_draft(made_at=now, state="failed", why="Refused.").pk,
        "unknown": make_draft(made_at=now, state="unknown", needs_person=True, asked_at=now).pk,
        "suspect": make_message(spam_status="suspect", spam_score=0.7, seen_at=now).pk,
        "given_up": make_message(reply_status="failed", reply_attempts=10, seen_at=now).pk,
        "account": account.pk,
    }


def do(client, kind: str, pk: int, act: str, **given):
    extra = given.pop("extra", {})
    return client.post(reverse("surfaces:desk_act", args=[kind, pk, act]), given, **extra)


KINDS = ["draft", "lapsed", "failed", "unknown", "suspect", "given_up", "account"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_page_of_its_own(desk, kind):
    pk = one_of_each()[kind]
    with CaptureQueriesContext(connection) as told:
        page = desk.get(f"/desk/{kind}/{pk}/")
    assert page.status_code == 200
    assert len(told) <= MOST_QUERIES
    assert f'data-item="{kind}-{pk}"' in page.content.decode()


def test_the_queue_shows_every_kind_and_asks_little(desk):
    found = one_of_each()
    with CaptureQueriesContext(connection) as told:
        page = desk.get("/desk/").content.decode()
    assert len(told) <= MOST_QUERIES
    for kind, pk in found.items():
        assert f'id="row-{kind}-{pk}"' in page


def test_a_limited_operator_pays_no_more(client):
    found = one_of_each()
    operator = make_operator()
    draft = Draft.objects.get(pk=found["draft"])
    operator.surfaces.add(draft.account.surface)
    operator.agents = ["iris"]
    operator.save(update_fields=["agents"])
    client.force_login(operator)
    with CaptureQueriesContext(connection) as told:
        client.get("/desk/")
    assert len(told) <= MOST_QUERIES


def test_what_is_out_of_reach_is_not_there(client):
    found = one_of_each()
    operator = make_operator()
    operator.surfaces.add(make_surface())
    client.force_login(operator)
    for kind, pk in found.items():
        assert client.get(f"/desk/{kind}/{pk}/").status_code == 404
        assert do(client, kind, pk, "approve").status_code == 404
    assert DeskItem.objects.count() == len(found)


def test_a_moved_item_is_shown_where_it_is(desk):
    draft = make_draft(stale_why="The comment was edited.")
    page = desk.get(f"/desk/draft/{draft.pk}/?order=risk")
    assert page.headers["Location"] == f"/desk/lapsed/{draft.pk}/?order=risk"


@pytest.mark.parametrize(
    "path", ["/desk/nothing/1/", "/desk/draft/999/", f"/desk/draft/{1 << 70}/"]
)
def test_what_does_not_exist_is_a_404(desk, path):
    assert desk.get(path).status_code == 404


def test_a_yes_goes_to_the_next_item_without_script(desk):
    first, second = make_draft(), make_draft()
    page = do(desk, "draft", first.pk, "approve", digest=first.digest(), queue="order=newest")
    assert page.headers["Location"] == f"/desk/draft/{second.pk}/?order=newest"
    first.refresh_from_db()
    assert first.state == "approved"
    assert first.not_before - first.decided_at == timedelta(seconds=10)


def test_with_the_undo_setting_off_a_yes_leaves_at_once(desk):
    InstanceSettings.objects.create(pk=1, undo_seconds=0)
    draft = make_draft()
    do(desk, "draft", draft.pk, "approve", digest=draft.digest())
    draft.refresh_from_db()
    assert draft.not_before == draft.decided_at


def test_htmx_gets_the_next_item_and_the_row_that_goes(desk):
    first, second = make_draft(), make_draft()
    page = do(desk, "draft", first.pk, "approve", digest=first.digest(), extra=HTMX)
    html = page.content.decode()
    assert f'data-item="draft-{second.pk}"' in html
    assert f'data-gone="draft-{first.pk}"' in html
    assert 'id="toasts"' in html


def test_after_the_last_item_of_a_view_nothing_is_said_of_the_others(desk):
    draft = make_draft()
    make_message(account=make_account(), spam_status="suspect")
    page = do(desk, "draft", draft.pk, "approve", digest=draft.digest(), queue="kind=draft",
              extra=HTMX)  # fmt: skip
    assert "No items in this view" in page.content.decode()


def test_the_title_counts_one_item_as_one(desk):
    make_draft()
    assert "<title>Desk, 1 item ·" in " ".join(desk.get("/desk/").content.decode().split())


def test_words_that_changed_since_are_not_approved(desk):
    draft = make_draft()
    digest = draft.digest()
    Draft.objects.filter(pk=draft.pk).update(text="Something nobody has read.")
    page = do(desk, "draft", draft.pk, "approve", digest=digest, extra=HTMX)
    assert page.status_code == 409
    draft.refresh_from_db()
    assert draft.state == "waiting"


def test_rejecting_needs_a_reason(desk):
    draft = make_draft(origin="model")
    assert do(desk, "draft", draft.pk, "reject", extra=HTMX).status_code == 422
    do(desk, "draft", draft.pk, "reject", reason="Tone")
    draft.refresh_from_db()
    assert (draft.state, str(draft.why)) == ("withdrawn", "Tone")


def test_a_second_decision_is_told_what_the_first_was(desk):
    draft = make_draft(origin="model")
    jonas = Client()
    jonas.force_login(make_operator(username="jonas", first_name="Jonas", last_name="Weil"))
    do(jonas, "draft", draft.pk, "approve", digest=draft.digest())
    page = do(desk, "draft", draft.pk, "reject", reason="Tone", extra=HTMX)
    assert page.status_code == 409
    assert "Jonas Weil decided this" in page.content.decode()
    draft.refresh_from_db()
    assert draft.state == "approved"


@pytest.mark.django_db(transaction=True)
def test_of_two_in_one_moment_one_decides_and_one_is_told():
    draft = make_draft(origin="model")
    start, answers = Barrier(2), {}

    def press(name: str, act: str, **given: str) -> None:
        client = Client()
        client.force_login(make_operator(username=name))
        start.wait()
        answers[act] = do(client, "draft", draft.pk, act, extra=HTMX, **given).status_code
        connections.close_all()

    both = [
        Thread(target=press, args=("mira", "approve"), kwargs={"digest": draft.digest()}),
        Thread(target=press, args=("jonas", "reject"), kwargs={"reason": "Tone"}),
    ]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(answers.values()) == [200, 409]
    draft.refresh_from_db()
    won = "approve" if answers["approve"] == 200 else "reject"
    assert draft.state == {"approve": "approved", "reject": "withdrawn"}[won]
    decided = AuditEvent.objects.about(draft).filter(
        action__in=["draft.approved", "draft.rejected"]
    )
    assert decided.count() == 1


def test_a_viewer_sees_and_decides_nothing(client):
    draft = make_draft()
    client.force_login(make_operator(role="viewer"))
    assert "read-only access" in client.get(f"/desk/draft/{draft.pk}/").content.decode()
    assert do(client, "draft", draft.pk, "approve", digest=draft.digest()).status_code == 403
    assert client.post("/desk/bulk", {"x": f"draft-{draft.pk}"}).status_code == 403


def test_an_act_that_does_not_exist_is_a_404(desk):
    draft = make_draft()
    assert do(desk, "draft", draft.pk, "launch").status_code == 404


def test_later_puts_it_out_of_sight_and_undo_brings_it_back(desk):
    draft = make_draft()
    desk.post(f"/desk/draft/{draft.pk}/later", {"for": "4h"})
    assert f"row-draft-{draft.pk}" not in desk.get("/desk/").content.decode()
    assert f"row-draft-{draft.pk}" in desk.get("/desk/?later=1").content.decode()
    desk.post("/desk/undo", {"what": f"draft-{draft.pk}:later"})
    assert f"row-draft-{draft.pk}" in desk.get("/desk/").content.decode()


@pytest.mark.parametrize("query", ["kind=%20&q=%E2%80%AE", "account=9e99&age=x", "q=" + "a+" * 900])
def test_strange_queries_show_a_page(desk, query):
    assert desk.get(f"/desk/?{query}").status_code == 200


@pytest.mark.parametrize("name", ["desk", "desk_rows"])
def test_a_key_that_is_none_is_refused_on_the_desk(desk, name):
    assert desk.get(reverse(f"surfaces:{name}"), {"after": "~~~"}).status_code == 400


def test_strangers_words_are_shown_as_words(desk):
    hostile = "<script>alert(1)</script>\u202e evil " + "x" * 3000
    comment = make_message(spam_status="suspect", content=hostile, author="<b>x\u202e")
    for path in ("/desk/", f"/desk/suspect/{comment.pk}/"):
        page = desk.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<b>x" not in page


def words(response) -> str:
    return " ".join(unescape(response.content.decode()).split())


def test_a_second_snooze_says_until_when_it_is_snoozed_and_how_it_comes_back(desk):
    pk = one_of_each()["suspect"]
    at = reverse("surfaces:desk_later", args=["suspect", pk])
    desk.post(at, {"for": "4h"})
    second = desk.post(at, {"for": "4h"})
    assert second.status_code == 409
    assert "Already snoozed until" in words(second)
    assert "Snooze 4 h" not in words(second)
    assert f'value="suspect-{pk}:later"' in words(second)
    desk.post("/desk/undo", {"what": f"suspect-{pk}:later"})
    assert DeskItem.objects.get(item_id=pk).later_until is None


def test_who_decides_twice_is_not_told_of_somebody_else(desk):
    draft = make_draft()
    for _ in range(2):
        answer = do(desk, "draft", draft.pk, "approve", digest=draft.digest())
    assert "This item no longer needs a decision." in words(answer)
    assert "You decided this" in words(answer)
    assert "You decided this" in words(desk.get(f"/desk/draft/{draft.pk}/"))


def test_without_an_undo_window_an_approval_offers_no_undo(desk):
    InstanceSettings.objects.update_or_create(pk=1, defaults={"undo_seconds": 0})
    draft = make_draft()
    page = do(desk, "draft", draft.pk, "approve", digest=draft.digest(), extra=HTMX)
    assert "Approved the reply" in words(page)
    assert 'data-key="u"' not in words(page)


def test_a_failed_reply_is_withdrawn_without_a_reason_and_retried_with_t(desk):
    pk = one_of_each()["failed"]
    page = words(desk.get(f"/desk/failed/{pk}/"))
    assert 'data-key="t"' in page
    assert 'data-key="w" data-rejects>' in page
    assert "a reason is required" not in page
    assert "Withdrew the reply" in words(do(desk, "failed", pk, "reject", extra=HTMX))


def test_undoing_a_verdict_names_the_one_that_applies(desk):
    pk = one_of_each()["suspect"]
    do(desk, "suspect", pk, "clean")
    page = desk.post("/desk/undo", {"what": f"suspect-{pk}:clean"}, follow=True)
    assert "The spam filter’s verdict applies again." in words(page)


def test_a_viewer_is_not_told_that_a_decision_is_possible(client):
    pk = one_of_each()["suspect"]
    mira, vera = make_operator(username="mira"), make_operator(username="vera", role="viewer")
    for who in (mira, vera):
        client.force_login(who)
        page = words(client.get(f"/desk/suspect/{pk}/"))
    assert "mira opened this first." in page
    assert "you can still decide" not in page


def test_an_approval_during_a_pause_says_that_it_is_sent_after_it(desk):
    draft = make_draft()
    pause_services.pause("all", why="storm", by="operator:mira", now=timezone.now())
    page = words(do(desk, "draft", draft.pk, "approve", digest=draft.digest(), extra=HTMX))
    assert "Sending is paused (everything, by mira); it is sent after the pause ends." in page
    assert "It is sent in" not in page
