"""A create answer is believed only where it fits: no message of another becomes ours."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from surfaces.delivery import settle
from surfaces.errors import BadInput
from surfaces.models import Draft, Message
from tests.factories import make_approved, make_message
from tests.surfaces.delivery.scripted_service import hanging, saying
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def made(remote_id: str, **more: Any) -> Any:
    return saying(201, **({"success": True, "comment": {"id": remote_id}} | more))


def test_a_stored_message_of_a_stranger_never_becomes_ours(service: Any, clock: Any):
    draft = make_approved()
    theirs = make_message(post=draft.target.post, parent=draft.target, content="not ours")
    service.next = [made(theirs.remote_id)]
    assert send(service, clock).unknown == 1
    theirs.refresh_from_db()
    draft.refresh_from_db()
    assert (theirs.direction, draft.state, draft.message) == ("incoming", "unknown", None)
    assert "another message" in str(draft.why)


def test_a_message_of_ours_in_another_thread_is_not_this_reply(service: Any, clock: Any):
    draft = make_approved()
    ours = make_message(account=draft.account, direction="outgoing", content="said elsewhere")
    service.next = [made(ours.remote_id)]
    assert send(service, clock).unknown == 1


def test_our_words_read_back_before_the_answer_came_are_the_message(service: Any, clock: Any):
    draft = make_approved()
    service.before_write = lambda: make_message(
        post=draft.target.post, parent=draft.target, direction="outgoing", remote_id="c-1"
    )
    assert send(service, clock).sent == 1
    assert Message.objects.get(remote_id="c-1") == Draft.objects.get().message


@pytest.mark.parametrize("what", ["reply", "post"])
def test_a_success_that_says_it_failed_is_in_doubt(service: Any, clock: Any, what: str):
    make_approved(what=what, title="On tides" if what == "post" else "")
    service.next = [made("c-7", success=False, post={"id": "c-7"})]
    assert send(service, clock).unknown == 1
    assert "says that it failed" in str(Draft.objects.get().why)


@pytest.mark.parametrize("status", [301, 303, 307, 308])
def test_a_reply_stored_and_answered_with_a_redirect_is_found_and_not_sent_again(
    service: Any, clock: Any, status: int
):
    def store_and_redirect(request: httpx.Request) -> httpx.Response:
        service.store(request)
        return httpx.Response(status, headers={"Location": "https://elsewhere.example/"})

    make_approved()
    service.next = [store_and_redirect]
    assert send(service, clock).unknown == 1
    clock.pass_by(minutes=1)
    send(service, clock)
    assert (Draft.objects.get().state, len(service.posted)) == ("sent", 1)


def test_an_operator_cannot_pick_a_message_that_is_not_this_reply(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    send(service, clock)
    draft.refresh_from_db()
    elsewhere = make_message(account=draft.account, direction="outgoing")
    with pytest.raises(BadInput, match="another message"):
        settle.settle_as_sent(
            draft, remote_id=elsewhere.remote_id, by="operator:mira", now=clock.now
        )
