"""A decision is taken back as long as the world allows it, and everything stands as before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surfaces.delivery import settle
from surfaces.drafts import expiry, retry
from surfaces.drafts import services as draft_services
from surfaces.drafts import undo as draft_undo
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import AuditEvent, DeskItem, Draft
from surfaces.spam import feedback
from surfaces.text.reasons import reason
from tests.factories import NOON, make_draft, make_message

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
MIRA = "operator:mira"
SOON = NOON + timedelta(seconds=5)
TEN = timedelta(seconds=10)


def undo(draft: Draft, now=SOON) -> Draft:
    draft_undo.undo_decision(draft, by=MIRA, now=now)
    draft.refresh_from_db()
    if draft.target:
        draft.target.refresh_from_db()
    return draft


def test_an_approval_is_taken_back_before_it_leaves():
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON, delay=TEN)
    assert draft.not_before == NOON + TEN
    undo(draft)
    assert (draft.state, draft.approved_digest, draft.decided_by) == ("waiting", "", "")
    assert draft.not_before is None


def test_nothing_is_due_before_the_time_to_undo_is_over():
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON, delay=TEN)
    assert not Draft.objects.due(NOON + timedelta(seconds=9)).exists()
    assert Draft.objects.due(NOON + TEN).get() == draft


@pytest.mark.parametrize("state", ["sending", "sent", "unknown"])
def test_what_has_left_cannot_be_taken_back(state):
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON, delay=TEN)
    said = make_message(direction="outgoing") if state == "sent" else None
    facts = {
        "sending": {"lease_until": NOON + TEN}, "sent": {"message": said, "sent_at": NOON},
        "unknown": {"asked_at": NOON},
    }[state]  # fmt: skip
    Draft.objects.filter(pk=draft.pk).update(state=state, **facts)
    with pytest.raises(StaleState, match="Too late to undo"):
        undo(draft)


@pytest.mark.parametrize("act", ["withdraw", "send_back"])
def test_a_rejection_is_taken_back_and_the_comment_is_being_answered_again(act):
    draft = make_draft(origin="model", agent="iris", why="Asked a question.")
    draft.comment().update(reply_status="pending", reply_attempts=3)
    if act == "withdraw":
        draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    else:
        draft_services.send_back(draft, note="Shorter.", by=MIRA, now=NOON)
    undo(draft)
    assert (draft.state, draft.judged, str(draft.why)) == ("waiting", "", "Asked a question.")
    assert (draft.target.reply_status, draft.target.reply_attempts) == ("pending", 3)


def test_a_rejection_is_not_taken_back_over_a_newer_answer():
    draft = make_draft(origin="model")
    draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    make_draft(target=draft.target)
    with pytest.raises(StaleState, match="Another answer"):
        undo(draft)
    assert Draft.objects.get(pk=draft.pk).state == "withdrawn"


def test_a_rejection_of_an_hour_ago_stays():
    draft = make_draft(origin="model")
    draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    AuditEvent.objects.about(draft)
    with pytest.raises(StaleState, match="over 10 min ago"):
        undo(draft, now=AuditEvent.objects.about(draft).latest("id").at + timedelta(minutes=11))


def test_a_comment_that_became_spam_meanwhile_takes_no_answer_back():
    draft = make_draft(origin="model")
    draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    draft.comment().update(spam_status="spam")
    with pytest.raises(StaleState, match="settled meanwhile"):
        undo(draft)


def test_a_withdrawn_failure_is_a_failure_again_with_its_tries():
    draft = make_draft(state="failed", why="Refused.")
    draft.comment().update(reply_status="failed", reply_attempts=10)
    draft_services.withdraw(draft, by=MIRA, now=NOON)
    undo(draft)
    assert (draft.state, str(draft.why)) == ("failed", "Refused.")
    assert (draft.target.reply_status, draft.target.reply_attempts) == ("failed", 10)
    assert list(DeskItem.objects.values_list("kind", flat=True)) == ["failed"]


def test_a_retry_is_taken_back_with_its_tries():
    draft = make_draft(state="failed", why="Refused.")
    draft.comment().update(reply_status="failed", reply_attempts=10)
    retry.retry_draft(draft, by=MIRA, now=NOON, delay=TEN)
    undo(draft)
    assert (draft.state, str(draft.why), draft.target.reply_attempts) == ("failed", "Refused.", 10)


def test_a_doubt_settled_too_quickly_is_a_doubt_again():
    draft = make_draft(
        state="unknown", needs_person=True, asked_at=NOON, looks=4, absences=2, remote_id="r1"
    )
    settle.settle_as_not_sent(draft, by=MIRA, now=NOON, delay=TEN)
    undo(draft)
    assert (draft.state, draft.needs_person, draft.looks, draft.absences) == ("unknown", True, 4, 2)
    assert (draft.remote_id, draft.asked_at) == ("r1", NOON)


def test_what_nobody_decided_cannot_be_taken_back():
    with pytest.raises(NotAllowed, match="no decision"):
        undo(make_draft())


def test_undone_twice_is_undone_once():
    draft = make_draft()
    draft_services.approve(draft, digest=draft.digest(), by=MIRA, now=NOON, delay=TEN)
    undo(draft)
    with pytest.raises(NotAllowed, match="no decision"):
        undo(draft)


def test_a_comment_called_spam_by_mistake_gets_its_draft_back():
    draft = make_draft(why="Asked a question.")
    draft.comment().update(reply_status="pending", reply_attempts=1)
    feedback.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "withdrawn"
    feedback.unmark(draft.target, by=MIRA, now=SOON)
    draft.refresh_from_db()
    assert (draft.state, str(draft.why)) == ("waiting", "Asked a question.")


def test_a_draft_rejected_before_the_mark_stays_rejected_after_it():
    draft = make_draft(origin="model")
    draft_services.withdraw(draft, by=MIRA, now=NOON, why="Tone")
    feedback.mark(draft.target, is_spam=True, by=MIRA, now=SOON)
    feedback.unmark(draft.target, by=MIRA, now=SOON)
    draft.refresh_from_db()
    assert draft.state == "withdrawn"


def test_a_mark_taken_back_brings_no_second_answer_beside_a_newer_one():
    draft = make_draft()
    feedback.mark(draft.target, is_spam=True, by=MIRA, now=NOON)
    newer = make_draft(target=draft.target)
    feedback.unmark(draft.target, by=MIRA, now=SOON)
    draft.refresh_from_db()
    assert (draft.state, newer.state) == ("withdrawn", "waiting")


def test_an_edit_is_taken_back_word_for_word():
    draft = make_draft(text="As it was.")
    draft_services.edit(draft, text="As it is.", by=MIRA, now=NOON)
    draft_undo.undo_edit(draft, by=MIRA, now=SOON)
    assert draft.text == "As it was."
    with pytest.raises(StaleState):
        draft_undo.undo_edit(draft, by=MIRA, now=SOON)


def test_fresh_tries_are_taken_back_before_they_are_used():
    comment = make_message(reply_status="failed", reply_attempts=10, reply_why="Ten tries.")
    retry.retry_message(comment, by=MIRA, now=NOON)
    draft_undo.undo_retry_message(comment, by=MIRA, now=SOON)
    comment.refresh_from_db()
    assert (comment.reply_status, comment.reply_attempts) == ("failed", 10)


def test_fresh_tries_in_use_stay():
    comment = make_message(reply_status="failed", reply_attempts=10, reply_why="Ten tries.")
    retry.retry_message(comment, by=MIRA, now=NOON)
    make_draft(target=comment)
    type(comment).objects.filter(pk=comment.pk).update(reply_status="pending", reply_attempts=1)
    with pytest.raises(StaleState, match="being written"):
        draft_undo.undo_retry_message(comment, by=MIRA, now=SOON)


def test_what_nobody_decided_in_time_is_withdrawn_and_its_comment_says_so():
    draft = make_draft(expires_at=NOON)
    kept = make_draft(expires_at=NOON + timedelta(seconds=1))
    assert expiry.expire(now=NOON) == 1
    draft.refresh_from_db()
    kept.refresh_from_db()
    draft.target.refresh_from_db()
    assert (draft.state, kept.state) == ("withdrawn", "waiting")
    assert draft.target.reply_why == reason(expiry.NOBODY)
    assert DeskItem.objects.filter(kind="given_up", item_id=draft.target_id).exists()
    assert expiry.expire(now=NOON) == 0
