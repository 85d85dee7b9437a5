"""Sending: at most once, only what was approved as it stands, and every outcome written down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import IntegrityError, transaction

from surfaces.delivery import retract
from surfaces.errors import IllegalMove, NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import NOON, make_account, make_approved, make_draft, make_message
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_an_approved_reply_is_sent_and_recorded_in_one_step(service: Any, clock: Any):
    draft = make_approved(text="  Yes, and the moon?  ".strip())

    assert send(service, clock).sent == 1

    draft.refresh_from_db()
    question = draft.target
    assert service.posted == [{"content": "Yes, and the moon?", "parent_id": question.remote_id}]
    assert draft.state == "sent"
    assert draft.message.parent_id == question.pk
    assert draft.message.post_id == question.post_id
    assert draft.message.direction == "outgoing"
    question.refresh_from_db()
    assert question.reply_status == "sent"
    assert AuditEvent.objects.about(draft).filter(action="draft.sent").count() == 1


def test_sending_again_sends_nothing(service: Any, clock: Any):
    make_approved()
    send(service, clock)
    clock.pass_by(days=1)
    assert send(service, clock).did == 0
    assert len(service.posted) == 1


def test_nothing_leaves_before_its_time(service: Any, clock: Any):
    make_approved(not_before=NOON + timedelta(seconds=1))
    assert send(service, clock).did == 0
    clock.pass_by(seconds=1)
    assert send(service, clock).sent == 1


def test_a_waiting_draft_never_leaves(service: Any, clock: Any):
    make_draft()
    send(service, clock)
    assert service.posted == []


def test_an_edited_comment_lapses_the_approval(service: Any, clock: Any):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(content="something else entirely")
    assert send(service, clock).lapsed == 1
    draft.refresh_from_db()
    assert (draft.state, draft.approved_digest, service.posted) == ("waiting", "", [])


def test_changed_words_lapse_the_approval(service: Any, clock: Any):
    draft = make_approved()
    Draft.objects.filter(pk=draft.pk).update(text="not what was approved")
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("waiting", [])


def test_a_comment_answered_elsewhere_is_not_answered_again(service: Any, clock: Any):
    draft = make_approved()
    make_message(post=draft.target.post, parent=draft.target, direction="outgoing")
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, service.posted) == ("failed", [])
    assert "Another reply to this comment was sent first" in str(draft.why)


def test_a_comment_deleted_meanwhile_is_not_answered(service: Any, clock: Any):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(deleted_at=NOON)
    send(service, clock)
    assert service.posted == []


def test_the_database_refuses_a_second_live_reply():
    draft = make_draft()
    with pytest.raises(IntegrityError, match="draft_one_live_reply"), transaction.atomic():
        make_draft(target=draft.target)
    draft.advance("withdrawn")
    make_draft(target=draft.target)


def test_the_second_mover_is_told():
    draft = make_draft()
    late = Draft.objects.get(pk=draft.pk)
    draft.advance("withdrawn")
    with pytest.raises(StaleState):
        late.advance("approved", approved_digest="x", not_before=NOON)
    with pytest.raises(IllegalMove):
        draft.advance("sent")


def test_sent_words_can_be_taken_back(service: Any, clock: Any, monkeypatch: Any):
    draft = make_approved()
    send(service, clock)
    draft = Draft.objects.select_related("account__surface", "message").get()
    real = retract._open_writer
    monkeypatch.setattr(
        retract, "_open_writer", lambda account, **_: real(account, clock=clock, transport=service)
    )
    retract.retract(draft, by="operator:mira", now=NOON)
    draft.message.refresh_from_db()
    assert draft.message.deleted_at == NOON
    with pytest.raises(NotAllowed):
        retract.retract(draft, by="operator:mira", now=NOON)


def test_a_service_that_hangs_does_not_keep_the_drafts_of_others(service: Any, clock: Any):
    """It had the sender for 40 s a draft, and a claim holds 50 of them."""
    hanging, other = make_account(), make_account(handle="other")
    for number in range(4):
        make_approved(
            target=make_message(account=hanging), text=f"Words {number}?",
            not_before=NOON - timedelta(hours=1),
        )  # fmt: skip
    ready = make_approved(target=make_message(account=other))

    def hang(request: Any) -> Any:
        clock.pass_by(seconds=40)
        raise httpx.ReadTimeout("late", request=request)

    service.next = [hang]
    send(service, clock)
    ready.refresh_from_db()
    assert ready.sent_at <= NOON + timedelta(seconds=41)
    assert len(service.posted) == 2
    hanging.refresh_from_db()
    assert hanging.quiet_until == NOON + timedelta(seconds=80)
    clock.pass_by(seconds=41)
    assert send(service, clock).sent == 3
