from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from surfaces.models import Message
from surfaces.text.reasons import reason
from tests.factories import NOON, make_account, make_draft, make_message
from tests.surfaces.drafts.pages import MEGABYTES, do, make_unknown, page_of, state, text

pytestmark = pytest.mark.django_db


def test_a_failed_draft_says_why_and_can_be_retried(desk):
    draft = make_draft(state="failed", why="The sign-in expired.")
    page = text(desk.get(page_of(draft)))
    assert "Sending failed." in page
    assert "The sign-in expired." in page
    do(desk, draft, "retry")
    assert state(draft) == "approved"


def test_a_lost_sending_is_settled_by_picking_our_message(desk):
    draft = make_unknown()
    ours = make_message(post=draft.target.post, direction="outgoing", content="Yes, and …")
    page = text(desk.get(page_of(draft)))
    assert f'value="{ours.remote_id}"' in page
    do(desk, draft, "settle_there", remote_id=ours.remote_id)
    assert state(draft) == "sent"


def test_a_lost_sending_is_settled_by_its_id(desk):
    draft = make_unknown()
    do(desk, draft, "settle_there", typed_id=" c-77 ")
    assert state(draft) == "sent"
    assert Message.objects.filter(remote_id="c-77").exists()


@pytest.mark.parametrize("given", ["", MEGABYTES], ids=["none", "2 MB"])
def test_an_id_that_is_none_is_asked_for_again(desk, given):
    draft = make_unknown()
    response = do(desk, draft, "settle_there", typed_id=given)
    assert response.status_code == 422
    assert "paste its id" in text(response)
    assert state(draft) == "unknown"


def test_a_lost_post_can_be_settled_too(desk):
    draft = make_unknown(what="post", title="Lost", account=make_account())
    page = text(desk.get(page_of(draft)))
    assert "Resend" in page
    do(desk, draft, "settle_absent")
    assert state(draft) == "approved"


def test_whether_it_is_sent_again_is_said_as_it_is(desk):
    for tries, says in [(1, "It is sent in 10 s."), (10, "It is not sent again: all attempts")]:
        draft = make_unknown(target=make_message(reply_attempts=tries, reply_status="pending"))
        page = text(desk.post(f"/desk/unknown/{draft.pk}/settle_absent", follow=True))
        assert f"Marked the reply to @{draft.target.author} as not delivered. {says}" in page


def test_while_we_look_there_is_nothing_to_press(desk):
    page = text(desk.get(page_of(make_unknown(needs_person=False, look_at=NOON))))
    assert "No action is needed yet" in page
    assert "settle_absent" not in page


def test_the_page_says_until_when_it_is_not_sent_again_and_why(desk):
    why = reason("look.absent", checks=2, delay=timedelta(minutes=10), at=NOON)
    doubt = {"unconfirmed_since": NOON, "unconfirmed_until": NOON, "why": why, "look_at": NOON}
    page = text(desk.get(page_of(make_unknown(needs_person=False, **doubt))))
    assert "not sent again before" in page
    assert "The service may store a request 10 min late" in page


def test_a_resend_that_must_wait_says_how_long(desk):
    now = timezone.now()
    draft = make_unknown(unconfirmed_since=now, unconfirmed_until=now)
    page = text(desk.post(f"/desk/unknown/{draft.pk}/settle_absent", follow=True))
    assert re.search(r"It is sent in (9|10) min", page)


def test_where_the_service_cannot_delete_the_page_says_so(desk, monkeypatch):
    target = make_message()
    ours = make_message(post=target.post, direction="outgoing")
    draft = make_draft(target=target, state="sent", sent_at=NOON, message=ours)
    page = text(desk.get(page_of(draft)))
    can = "comment" in draft.account.surface.traits.can_delete
    assert ("Delete from surface…" in page) is can
    assert ("does not let Colloquy delete" in page) is not can
