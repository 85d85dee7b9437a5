from __future__ import annotations

import pytest

from surfaces.models import Message
from tests.factories import NOON, make_account, make_draft, make_message
from tests.surfaces.draft_pages import MEGABYTES, do, make_unknown, page_of, state, text

pytestmark = pytest.mark.django_db


def test_a_failed_draft_says_why_and_can_be_retried(desk):
    draft = make_draft(state="failed", why="The sign-in expired.")
    page = text(desk.get(page_of(draft)))
    assert "It was not sent." in page
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


@pytest.mark.parametrize("given", ["", "\0", MEGABYTES], ids=["none", "NUL", "2 MB"])
def test_an_id_that_is_none_is_asked_for_again(desk, given):
    draft = make_unknown()
    response = do(desk, draft, "settle_there", typed_id=given)
    assert response.status_code == 422
    assert "Paste the id" in text(response)
    assert state(draft) == "unknown"


def test_a_lost_post_can_be_settled_too(desk):
    draft = make_unknown(what="post", title="Lost", account=make_account())
    page = text(desk.get(page_of(draft)))
    assert "Send it again" in page
    do(desk, draft, "settle_absent")
    assert state(draft) == "approved"


def test_while_we_look_there_is_nothing_to_press(desk):
    page = text(desk.get(page_of(make_unknown(needs_person=False, look_at=NOON))))
    assert "Nothing to decide yet" in page
    assert "settle_absent" not in page


def test_where_the_service_cannot_delete_the_page_says_so(desk, monkeypatch):
    target = make_message()
    ours = make_message(post=target.post, direction="outgoing")
    draft = make_draft(target=target, state="sent", sent_at=NOON, message=ours)
    page = text(desk.get(page_of(draft)))
    can = "comment" in draft.account.surface.traits.can_delete
    assert ("Take back…" in page) is can
    assert ("no way to delete" in page) is not can
