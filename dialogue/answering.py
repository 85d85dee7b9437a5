"""Answer one comment: ask the voice, put its words down, or say what went wrong.

words ─> draft, activation and notification in one step
no words ─> a failed try: the next waits longer; after the last the comment failed
told to stop, out of budget, the comment moved ─> given back
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, transaction
from django.db.models import F

from dialogue import activations, briefing, speaking
from dialogue.errors import (
    OutOfBudget,
    Overtaken,
    VoiceDown,
    VoiceEnding,
    VoiceError,
    VoiceLimited,
)
from dialogue.models import Activation, Notification
from dialogue.models.activation import State
from dialogue.models.notification import Outcome
from dialogue.speaking import LONGEST_ORIGIN
from dialogue.turn_taking import Why
from dialogue.voice.base import Written
from surfaces import drafting
from surfaces.errors import BadInput, RuleBroken, SurfaceError
from surfaces.models import AuditEvent, Message
from surfaces.models.draft import What
from surfaces.models.message import OPEN, ReplyStatus, SpamStatus
from surfaces.outcomes import wait_after

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]
A_MOMENT = timedelta(seconds=2)


@dataclass(slots=True)
class Tally:
    """What one run did, in comments."""

    passed: int = 0
    held: int = 0
    waits: int = 0
    drafted: int = 0
    failed: int = 0
    given_back: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())


def answer(woken: Activation, tally: Tally, *, clock: Clock, is_ending: Callable[[], bool]) -> None:
    """Ask the voice and put its words down. Whatever goes wrong ends in the activation."""
    try:
        _answer(woken, tally, clock=clock, is_ending=is_ending)
    except Overtaken:
        logger.warning("an activation was taken back", extra={"activation_id": woken.pk})
    except DatabaseError:
        raise  # nothing can be written down now; its lease will tell
    except VoiceEnding as error:
        tally.given_back += 1
        _give_back(woken, str(error), now=clock())
    except OutOfBudget as error:
        tally.waits += 1
        _wait_for_money(woken, error, now=clock())
    except (VoiceError, BadInput, SurfaceError) as error:
        tally.failed += 1
        wait = error.wait if isinstance(error, VoiceLimited | VoiceDown) else None
        _fail_try(woken, str(error), wait=wait, now=clock())
    except RuleBroken as error:
        tally.given_back += 1
        _give_back(woken, str(error), now=clock(), wait=A_MOMENT)
    except Exception as error:
        tally.failed += 1
        logger.exception("an activation failed in us", extra={"activation_id": woken.pk})
        why = f"Colloquy failed: {type(error).__name__}. The log says where."
        _fail_try(woken, why, wait=None, now=clock())


def _answer(
    woken: Activation, tally: Tally, *, clock: Clock, is_ending: Callable[[], bool]
) -> None:
    notification = woken.reason
    brief, context = briefing.of_reply(notification, now=clock())
    written, voice = speaking.speak(woken, brief, context, clock=clock, is_ending=is_ending)
    read = brief.comment.text if brief.comment else ""
    _put_down(woken, notification, read, written, voice, now=clock())
    tally.drafted += 1


@transaction.atomic
def _put_down(
    woken: Activation,
    notification: Notification,
    read: str,
    written: Written,
    voice: str,
    *,
    now: datetime,
) -> None:
    """Draft, activation and notification, in one step; nothing of it if we were overtaken."""
    account = activations.account_to_speak_from(woken)
    comment = Message.objects.select_related("post").get(pk=notification.comment.pk)
    activations.check_still(
        woken,
        (comment.spam_status == SpamStatus.SUSPECT, "The comment became suspect."),
        (comment.post.deleted_at is not None, "The thread was deleted at the source."),
        (comment.content != read, "The comment was edited."),
    )
    draft = drafting.compose(
        account=account,
        what=What.REPLY,
        target=comment,
        text=written.text,
        by=woken.agent.ledger_name,
        now=now,
        agent=woken.agent.slug,
        origin=voice[:LONGEST_ORIGIN],
        parts=(written.terms, written.pointer, written.exit),
        is_begun=True,
        read_at=woken.started_at,
        because=woken.why,
    )
    activations.end(woken, State.DONE, f"It wrote draft {draft.pk}.", now=now, draft=draft)
    notification.note(draft=draft, look_at=None, verdict=Why.DRAFTED.code, not_before=None)


# ── when no words came of it ──────────────────────────────────────────────


@transaction.atomic
def _fail_try(woken: Activation, why: str, *, wait: timedelta | None, now: datetime) -> None:
    """One try less; the next waits longer, or there is none."""
    try:
        activations.end(woken, State.FAILED, why, now=now)
    except Overtaken:
        return
    notification = woken.reason
    message = Message.objects.get(pk=notification.comment.pk)
    AuditEvent.objects.record(
        "message.try_failed", actor=woken.agent.ledger_name, subject=message, why=why,
        attempt=message.reply_attempts, activation=woken.pk,
    )  # fmt: skip
    if message.reply_attempts >= woken.agent.settings.tries:
        _give_up(notification, message, why, now=now)
        return
    pause = wait_after(message.reply_attempts, notification.presence.account.interval)
    until = now + max(pause, wait or timedelta())
    said = f"Try {message.reply_attempts} failed: {why}"
    Message.objects.filter(OPEN, pk=message.pk).update(reply_why=said)
    notification.note(
        verdict=Why.BETWEEN_TRIES.code, why=said, look_at=until, not_before=until,
        considered_at=now,
    )  # fmt: skip


def _give_up(notification: Notification, message: Message, why: str, *, now: datetime) -> None:
    said = f"Tried {message.reply_attempts} times. The last time: {why}"
    open_still = Message.objects.filter(OPEN, pk=message.pk)
    open_still.update(reply_status=ReplyStatus.FAILED, reply_why=said)
    AuditEvent.objects.record(
        "message.gave_up", actor=notification.agent.ledger_name, subject=message, why=said
    )
    notification.note(
        verdict=Why.TRIED_OUT.code, why=said, read_at=now, outcome=Outcome.PASSED, look_at=None,
        considered_at=now,
    )  # fmt: skip


@transaction.atomic
def _give_back(
    woken: Activation, why: str, *, now: datetime, wait: timedelta = timedelta()
) -> None:
    """Told to stop, or the comment moved: it is considered again."""
    try:
        activations.end(woken, State.RELEASED, why, now=now)
    except Overtaken:
        return
    notification = woken.reason
    notification.note(look_at=now + wait, why=why)


@transaction.atomic
def _wait_for_money(woken: Activation, error: OutOfBudget, *, now: datetime) -> None:
    """The voice was not asked for want of money; if it never was, this was no try."""
    try:
        activations.end(woken, State.EXHAUSTED, str(error), now=now)
    except Overtaken:
        return
    notification = woken.reason
    if not woken.steps.filter(kind="asked").exists():
        tried = Message.objects.filter(pk=notification.comment.pk, reply_attempts__gt=0)
        tried.update(reply_attempts=F("reply_attempts") - 1)
    notification.note(
        verdict=Why.SPENT.code, why=f"Waits: {error}", look_at=error.until, considered_at=now
    )
    Message.objects.filter(OPEN, pk=notification.comment.pk).update(reply_why=f"Waits: {error}")
