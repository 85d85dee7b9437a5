"""Reply to one comment: call the voice, then store a draft or the failure.

thread read again where its last reading is old ─> comment changed: decided anew
text ─> draft, activation and notification in one transaction
no text ─> a failed attempt; the next waits longer, and after the last the comment failed
stopped, out of budget, comment changed ─> released
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction

from dialogue import errors
from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation, ActivationState
from dialogue.inbox.models import NotificationOutcome
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict
from dialogue.voice import briefs, generate
from dialogue.voice.base import Reply
from dialogue.voice.generate import LONGEST_ORIGIN
from surfaces.accounts.services import stop_account
from surfaces.drafts import services as draft_services
from surfaces.drafts.attempts import retry_delay
from surfaces.drafts.models import DraftKind
from surfaces.errors import BadInput, RuleBroken, SurfaceError, TryLater
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, SpamStatus
from surfaces.models import AuditEvent, Message
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.watcher import reread

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]
A_MOMENT = timedelta(seconds=2)


@dataclass(slots=True)
class ReplyCounts:
    passed: int = 0
    held: int = 0
    waits: int = 0
    drafted: int = 0
    failed: int = 0
    given_back: int = 0


def write_reply(
    woken: Activation, tally: ReplyCounts, *, clock: Clock, is_ending: Callable[[], bool]
) -> None:
    """Call the voice and store the draft. Every error is recorded in the activation."""
    try:
        if not _is_as_decided(woken, tally, clock=clock):
            return
        brief, context = briefs.reply_brief(woken.reason, now=clock())
        written, voice = generate.generate(woken, brief, context, clock=clock, is_ending=is_ending)
        read = brief.comment.text if brief.comment else ""
        _put_down(woken, read, written, voice, now=clock())
        tally.drafted += 1
    except errors.LeaseLost:
        logger.warning("an activation was taken back", extra={"activation_id": woken.pk})
    except DatabaseError:
        raise  # nothing can be stored now; the lease will expire
    except errors.VoiceStopping as error:
        tally.given_back += 1
        _give_back(woken, error.reason, now=clock())
    except errors.OutOfBudget as error:
        tally.waits += 1
        _wait_for_money(woken, error, now=clock())
    except (errors.VoiceError, BadInput, SurfaceError) as error:
        tally.failed += 1
        wait = error.wait if isinstance(error, errors.VoiceError) else None
        _fail_try(woken, error.reason, wait=wait, now=clock())
    except RuleBroken as error:
        tally.given_back += 1
        _give_back(woken, error.reason, now=clock(), wait=A_MOMENT)
    except Exception as error:
        tally.failed += 1
        logger.exception("an activation failed in us", extra={"activation_id": woken.pk})
        why = reason("activation.program_failed", name=type(error).__name__)
        _fail_try(woken, why, wait=None, now=clock())


def _is_as_decided(woken: Activation, tally: ReplyCounts, *, clock: Clock) -> bool:
    """Read the thread again, outside any transaction. False: the comment is released.

    A comment that was deleted or edited is decided anew. Where the service does not answer, the
    reply waits: it could not be sent either. No attempt is counted, since no voice was asked.
    """
    comment = woken.reason.comment
    decided_on = _facts_of(comment)
    try:
        reread.read_again(comment, clock=clock)
    except TryLater as error:
        tally.waits += 1
        why = reason("reply.thread_unread", error=error.reason)
        until = clock() + (error.wait or comment.account.interval)
        _release(woken, why, now=clock(), until=until)
        return False
    except SurfaceError as error:
        tally.waits += 1
        stop_account(comment.account, error, now=clock())
        _release(woken, error.reason, now=clock())
        return False
    if _facts_of(Message.objects.select_related("post").get(pk=comment.pk)) == decided_on:
        return True
    tally.given_back += 1
    _release(woken, as_reason("reply.comment_changed"), now=clock())
    return False


def _facts_of(comment: Message) -> tuple[Any, ...]:
    status, gone = comment.spam_status, (comment.deleted_at, comment.post.deleted_at)
    return comment.content, status, [moment is not None for moment in gone]


@transaction.atomic
def _release(
    woken: Activation, why: StoredReason, *, now: datetime, until: datetime | None = None
) -> None:
    """Release the comment before a voice was asked: it is considered again, without an attempt."""
    try:
        activation_services.finish(woken, ActivationState.RELEASED, why, now=now)
    except errors.LeaseLost:
        return
    comment = Message.objects.filter(pk=woken.reason.comment.pk)
    reply_state.uncount_attempt(comment)
    if until is None:
        woken.reason.note(look_at=now, why=why)
        return
    waits = ReplyVerdict(ReplyAction.WAIT, Reason.BETWEEN_TRIES, why, until)
    woken.reason.note(verdict=waits.why.code, why=waits.reason, look_at=until, considered_at=now)
    reply_state.note_reason(comment, waits.reason)


@transaction.atomic
def _put_down(woken: Activation, read: str, written: Reply, voice: str, *, now: datetime) -> None:
    """Store draft, activation and notification, or nothing if the lease was lost."""
    notification = woken.reason
    account = activation_services.account_to_speak_from(woken)
    comment = Message.objects.select_related("post").get(pk=notification.comment.pk)
    activation_services.check_still_allowed(
        woken,
        (comment.spam_status == SpamStatus.SUSPECT, "activation.suspect"),
        (comment.post.deleted_at is not None, "activation.thread_deleted"),
        (comment.content != read, "activation.comment_edited"),
    )
    draft = draft_services.compose(
        account=account, what=DraftKind.REPLY, target=comment, text=written.text,
        by=woken.agent.ledger_name, now=now, agent=woken.agent.slug, origin=voice[:LONGEST_ORIGIN],
        parts=(written.terms, written.pointer, written.exit), is_begun=True,
        read_at=woken.started_at, because=woken.why,
    )  # fmt: skip
    wrote = reason("activation.wrote_draft", pk=str(draft.pk))
    activation_services.finish(woken, ActivationState.DONE, wrote, now=now, draft=draft)
    waits = ReplyVerdict(ReplyAction.WAIT, Reason.DRAFTED)
    notification.note(
        draft=draft, look_at=None, verdict=waits.why.code, why=waits.reason, not_before=None
    )


@transaction.atomic
def _fail_try(
    woken: Activation, why: StoredReason, *, wait: timedelta | None, now: datetime
) -> None:
    """Record a failed attempt; schedule the next, or fail the comment."""
    try:
        activation_services.finish(woken, ActivationState.FAILED, why, now=now)
    except errors.LeaseLost:
        return
    notification = woken.reason
    message = Message.objects.get(pk=notification.comment.pk)
    AuditEvent.objects.record(
        "message.try_failed", actor=woken.agent.ledger_name, subject=message, why=why,
        attempt=message.reply_attempts, activation=woken.pk,
    )  # fmt: skip
    if message.reply_attempts >= woken.agent.settings.tries:
        said = reason("reply.tried_out_last", reply_attempts=message.reply_attempts, why=why)
        reply_state.mark_failed(Message.objects.filter(OPEN, pk=message.pk), said)
        by = woken.agent.ledger_name
        AuditEvent.objects.record("message.gave_up", actor=by, subject=message, why=said)
        notification.note(
            verdict=Reason.TRIED_OUT.code, why=said, read_at=now,
            outcome=NotificationOutcome.PASSED, look_at=None, considered_at=now,
        )  # fmt: skip
        return
    pause = retry_delay(message.reply_attempts, notification.presence.account.interval)
    until = now + max(pause, wait or timedelta())
    said = reason("reply.try_failed", reply_attempts=message.reply_attempts, why=why)
    reply_state.note_reason(Message.objects.filter(pk=message.pk), said)
    notification.note(
        verdict=Reason.BETWEEN_TRIES.code, why=said, look_at=until, not_before=until,
        considered_at=now,
    )  # fmt: skip


@transaction.atomic
def _give_back(
    woken: Activation, why: StoredReason, *, now: datetime, wait: timedelta = timedelta()
) -> None:
    """Release the comment, because we stop or it changed: it is considered again."""
    try:
        activation_services.finish(woken, ActivationState.RELEASED, why, now=now)
    except errors.LeaseLost:
        return
    woken.reason.note(look_at=now + wait, why=why)


@transaction.atomic
def _wait_for_money(woken: Activation, error: errors.OutOfBudget, *, now: datetime) -> None:
    """Wait for the budget. Without a request to the voice, this counts as no attempt."""
    try:
        activation_services.finish(woken, ActivationState.EXHAUSTED, error.reason, now=now)
    except errors.LeaseLost:
        return
    notification = woken.reason
    comment = Message.objects.filter(pk=notification.comment.pk)
    if not woken.steps.filter(kind="asked").exists():
        reply_state.uncount_attempt(comment)
    why = reason("reply.waits", error=error.reason)
    notification.note(verdict=Reason.SPENT.code, why=why, look_at=error.until, considered_at=now)
    reply_state.note_reason(comment, why)
