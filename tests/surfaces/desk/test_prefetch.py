"""Panes that are fetched ahead, checked later, and decided on only as they were shown."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from surfaces.models import Account, DeskItem, DeskViewer, Draft, Message
from tests.factories import make_draft, make_message, make_operator
from tests.surfaces.desk.test_views import HTMX, KINDS, do, one_of_each

pytestmark = pytest.mark.django_db
AHEAD = HTMX | {"HTTP_X_PREFETCH": "1"}
NEXT_SHOWN = HTMX | {"HTTP_X_NEXT_SHOWN": "1"}
CHANGED = "It changed after you opened it."


def stamp_of(page) -> str:
    found = re.search(r'name="stamp" value="(\w+)"', page.content.decode())
    return found[1] if found else ""


def test_a_pane_fetched_ahead_announces_no_viewer(desk):
    draft = make_draft()
    desk.get(f"/desk/draft/{draft.pk}/", **AHEAD)
    assert not DeskViewer.objects.exists()
    desk.get(f"/desk/draft/{draft.pk}/", **HTMX)
    assert DeskViewer.objects.get().item_id == draft.pk


@pytest.mark.parametrize("kind", KINDS)
def test_what_did_not_change_is_not_sent_again_and_its_viewer_is_announced(desk, kind):
    place = f"/desk/{kind}/{one_of_each()[kind]}/"
    etag = desk.get(place, **AHEAD).headers["ETag"]
    page = desk.get(place, **HTMX, HTTP_IF_NONE_MATCH=etag)
    assert (page.status_code, page.content) == (304, b"")
    assert DeskViewer.objects.filter(kind=kind).exists()


def test_what_changed_or_is_read_by_somebody_else_is_sent_again(desk, client):
    draft = make_draft()
    place = f"/desk/draft/{draft.pk}/"
    etag = desk.get(place, **AHEAD).headers["ETag"]
    Draft.objects.filter(pk=draft.pk).update(text="Other words.")
    page = desk.get(place, **HTMX, HTTP_IF_NONE_MATCH=etag)
    assert "Other words." in page.content.decode()
    etag = desk.get(place, **AHEAD).headers["ETag"]
    client.force_login(make_operator(username="jonas", first_name="Jonas", last_name="Weil"))
    page = client.get(place, **HTMX, HTTP_IF_NONE_MATCH=etag)
    assert "Mira Kovač opened this first" in page.content.decode()


def test_who_shows_the_next_item_already_gets_only_what_stands_around_it(desk):
    first, second = make_draft(), make_draft()
    page = do(desk, "draft", first.pk, "approve", digest=first.digest(), extra=NEXT_SHOWN)
    html = page.content.decode()
    assert 'id="item"' not in html
    assert 'id="toasts" role="status" hx-swap-oob="true"' in html
    assert not DeskViewer.objects.filter(item_id=second.pk).exists()


def test_a_refused_decision_comes_with_its_item_and_announces_no_viewer(desk):
    draft = make_draft(origin="model")
    page = do(desk, "draft", draft.pk, "reject", extra=NEXT_SHOWN)
    assert page.status_code == 422
    assert f'data-item="draft-{draft.pk}"' in page.content.decode()
    assert not DeskViewer.objects.exists()


ACTS = {
    "draft": "spam", "lapsed": "reject", "failed": "retry", "unknown": "settle_absent",
    "suspect": "clean", "given_up": "try_again", "account": "clear",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_decision_on_something_else_than_what_was_shown_decides_nothing(desk, kind):
    pk = one_of_each()[kind]
    stamp = stamp_of(desk.get(f"/desk/{kind}/{pk}/"))
    if kind == "account":
        Account.objects.filter(pk=pk).update(state_why="It is blocked for good.")
    elif kind in {"suspect", "given_up"}:
        Message.objects.filter(pk=pk).update(content="Edited since.")
    else:
        Draft.objects.filter(pk=pk).update(text="Edited since.")
    page = do(desk, kind, pk, ACTS[kind], stamp=stamp, why="Tone", extra=HTMX)
    assert page.status_code == 409
    assert CHANGED in page.content.decode()
    assert "Decided before you" not in page.content.decode()
    assert DeskItem.objects.of(kind, pk).exists()
    again = stamp_of(page)
    assert again != stamp
    do(desk, kind, pk, ACTS[kind], stamp=again, why="Tone", extra=HTMX)
    assert not DeskItem.objects.of(kind, pk).exists()


def test_what_moved_while_it_was_open_comes_back_as_what_it_is_now(desk):
    draft = make_draft()
    stamp = stamp_of(desk.get(f"/desk/draft/{draft.pk}/"))
    moved = {"stale_why": "The comment was edited.", "stale_at": timezone.now()}
    Draft.objects.filter(pk=draft.pk).update(**moved)
    given = {"stamp": stamp, "digest": draft.digest()}
    page = do(desk, "draft", draft.pk, "approve", **given, extra=HTMX)
    assert page.status_code == 409
    assert f'data-item="lapsed-{draft.pk}"' in page.content.decode()
    draft.refresh_from_db()
    assert draft.state == "waiting"


def test_many_suspects_are_decided_on_as_they_were_seen(desk):
    good, edited = (make_message(spam_status="suspect") for _ in range(2))
    page = desk.get("/desk/").content.decode()
    seen = dict(re.findall(r'name="(stamp-[\w-]+)" value="(\w+)"', page))
    Message.objects.filter(pk=edited.pk).update(content="Edited since.")
    keys = [f"suspect-{row.pk}" for row in (good, edited)]
    page = desk.post("/desk/bulk", {"x": keys, "act": "spam", **seen}, **HTMX).content.decode()
    assert CHANGED in page
    assert list(Message.objects.spam()) == [good]
