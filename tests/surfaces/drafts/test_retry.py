"""Trying again: a failed draft, a lost one, a comment that was given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from surfaces.delivery import settle
from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message
from tests.factories import NOON, make_draft, make_message, make_post

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"


def test_a_failed_draft_is_retried_with_fresh_tries():
    draft = make_draft(
        state="failed", target=make_message(reply_attempts=10, reply_status="failed")
    )
    retry.retry_draft(draft, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert (draft.state, draft.target.reply_attempts) == ("approved", 1)


def test_a_failed_draft_is_not_retried_beside_a_live_one():
    failed = make_draft(state="failed")
    make_draft(target=failed.target)
    with pytest.raises(StaleState):
        retry.retry_draft(failed, by=MIRA, now=NOON)


def test_not_there_after_the_tenth_try_is_a_failure_that_can_be_retried():
    question = make_message(reply_attempts=10, reply_status="pending")
    draft = make_draft(target=question)
    Draft.objects.filter(pk=draft.pk).update(state="unknown", needs_person=True)
    draft.refresh_from_db()
    settle.settle_as_not_sent(draft, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "failed"
    assert str(draft.why) == "10 attempts. An operator marked it as not delivered."
    retry.retry_draft(draft, by=MIRA, now=NOON)
    assert draft.state == "approved"


@pytest.mark.parametrize(
    "given",
    [
        {"reply_status": "failed", "reply_attempts": 10, "reply_why": "Tried 10 times."},
        {"reply_status": None, "reply_attempts": 2, "reply_why": "Passed: enough was said."},
    ],
    ids=["failed", "passed"],
)
def test_a_comment_that_was_given_up_is_tried_again(given: dict):
    question = make_message(**given)
    make_draft(target=question, state="failed")
    retry.retry_message(question, by=MIRA, now=NOON)
    question.refresh_from_db()
    assert question in Message.objects.awaiting_reply()
    assert (question.reply_attempts, str(question.reply_why)) == (0, "")
    assert AuditEvent.objects.about(question).get().action == "message.retried"


def test_fresh_tries_that_nobody_used_are_not_given_again():
    question = make_message(reply_status="failed", reply_attempts=10, reply_why="Tried 10 times.")
    retry.retry_message(question, by=MIRA, now=NOON)
    for _ in range(4):
        with pytest.raises(NotAllowed, match="reset already, and none has been used"):
            retry.retry_message(question, by=MIRA, now=NOON)
    assert AuditEvent.objects.called("message.retried").count() == 1


@pytest.mark.parametrize(
    "since",
    [
        {"reply_why": "Passed: enough was said."},
        {"reply_status": "pending", "reply_attempts": 1},
        {"reply_attempts": 1},
    ],
    ids=["passed", "tried", "shadowed"],
)
def test_what_came_to_nothing_again_is_tried_once_more(since: dict):
    question = make_message(reply_status="failed", reply_attempts=10, reply_why="Tried 10 times.")
    retry.retry_message(question, by=MIRA, now=NOON)
    Message.objects.filter(pk=question.pk).update(**since)
    retry.retry_message(question, by=MIRA, now=NOON)
    assert AuditEvent.objects.called("message.retried").count() == 2


def test_what_nobody_asked_for_before_is_asked_for_though_it_was_never_tried():
    question = make_message()
    retry.retry_message(question, by=MIRA, now=NOON)
    assert AuditEvent.objects.about(question).get().action == "message.retried"


def test_what_speaks_against_another_try_is_said():
    answered = make_message(reply_status="failed")
    make_message(post=answered.post, parent=answered, direction="outgoing")
    begun = make_message(reply_status="failed")
    make_draft(target=begun)
    for question, why in [
        (answered, "already has a reply"),
        (make_message(reply_status="sent"), "already has a reply"),
        (make_message(deleted_at=NOON), "deleted on the surface"),
        (make_message(spam_status="spam"), "marked as spam"),
        (begun, "already in progress"),
        (make_post(), "comments by others"),
        (make_message(direction="outgoing"), "comments by others"),
    ]:
        with pytest.raises(NotAllowed, match=why):
            retry.retry_message(question, by=MIRA, now=NOON)
    assert not AuditEvent.objects.called("message.retried").exists()


def test_a_failed_draft_is_not_retried_when_the_comment_was_answered_elsewhere():
    failed = make_draft(state="failed")
    answered = failed.target
    Message.objects.filter(pk=answered.pk).update(reply_status="sent")
    make_message(post=answered.post, parent=answered, direction="outgoing", author="iris")
    with pytest.raises(NotAllowed, match="already has a reply"):
        retry.retry_draft(failed, by=MIRA, now=NOON)
    answered.refresh_from_db()
    assert answered.reply_status == "sent"
    assert answered not in Message.objects.failed_replies()


# ── while an earlier request may still be stored ──────────────────────────


def in_doubt(state: str, **given: object) -> Draft:
    """A draft whose request was made at noon and got no answer."""
    return make_draft(state=state, unconfirmed_since=NOON, unconfirmed_until=NOON, **given)


STILL = NOON + timedelta(minutes=9, seconds=59)
OVER = NOON + timedelta(minutes=10)


def retry_its_comment(draft: Draft, now: datetime) -> None:
    retry.retry_message(draft.target, by=MIRA, now=now)


def withdraw(draft: Draft, now: datetime) -> None:
    draft_services.withdraw(draft, by=MIRA, now=now)


def edit(draft: Draft, now: datetime) -> None:
    draft_services.edit(draft, text="Other words.", by=MIRA, now=now)


def send_back(draft: Draft, now: datetime) -> None:
    draft_services.send_back(draft, note="Shorter, please.", by=MIRA, now=now)


@pytest.mark.parametrize(
    ("state", "act"),
    [("failed", retry_its_comment), ("failed", withdraw), ("approved", withdraw),
     ("approved", edit), ("approved", send_back)],
)  # fmt: skip
def test_nothing_makes_room_for_other_words_while_the_first_may_still_be_stored(
    state: str, act: Callable[[Draft, datetime], None]
):
    facts = {"approved_digest": "x", "not_before": OVER} if state == "approved" else {}
    draft = in_doubt(state, target=make_message(reply_status="failed"), origin="model", **facts)
    with pytest.raises(NotAllowed, match="may still store a request with this text until"):
        act(draft, STILL)
    act(draft, OVER)


def test_a_retry_and_a_resend_say_until_when_they_wait():
    failed = in_doubt("failed")
    retry.retry_draft(failed, by=MIRA, now=STILL)
    settled = in_doubt("unknown", needs_person=True)
    settle.settle_as_not_sent(settled, by=MIRA, now=STILL)
    for draft, code in [(failed, "draft.retried_waits"), (settled, "draft.absent_waits")]:
        assert (draft.state, draft.not_before, draft.why.code) == ("approved", OVER, code)
    assert settled.settled_absent
    assert not failed.settled_absent
    late = in_doubt("failed")
    retry.retry_draft(late, by=MIRA, now=OVER)
    assert (late.not_before, late.why.code) == (OVER, "draft.retried")
