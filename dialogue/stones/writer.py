"""Choose stones, have them written and create their drafts.

    due ──choose──> chosen ──write──> written (delivery handles its draft)
                     │  ^└─later─┐            │
                     │  └────────┴─sent back──┘
                     └──> given up: after three attempts, after a day, or when the presence ended

A choice is committed before a voice is called, once per presence and slot. The text is stored
together with its draft. If a worker dies, the stone is retried and no post is written twice.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations import services as activation_services
from dialogue.activations.drafting import DraftWords, put_down
from dialogue.activations.models import Activation, Purpose
from dialogue.activations.models import ActivationState as Ended
from dialogue.activations.requests import stopped
from dialogue.activations.stop_signal import StopSignal, stop_asked_by
from dialogue.agents import presences
from dialogue.errors import LeaseLost, OutOfBudget, VoiceError, VoiceStopping
from dialogue.stones import scheduler
from dialogue.stones.models import MOST_TRIES, Stone, StoneState
from dialogue.voice import briefs, generate
from dialogue.voice.base import Reply
from surfaces.drafts.models import DraftKind, Feedback
from surfaces.errors import NotAllowed, RuleBroken, StaleState, SurfaceError
from surfaces.models import AuditEvent, Message
from surfaces.text.reasons import StoredReason, reason, several

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]
Until = Callable[[], bool]
Speak = Callable[..., tuple[Reply, str]]

FIRST_WAIT = timedelta(minutes=10)  # after a failed attempt; doubles
LONGEST_WAIT = timedelta(hours=6)
STALE_AFTER = timedelta(days=1)  # later, source and slot are out of date


@dataclass(slots=True)
class WriteReport:
    chosen: int = 0
    written: int = 0
    later: int = 0
    given_up: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())


def write_due(
    *,
    worker: str,
    clock: Clock,
    until: Until = lambda: False,
    speak: Speak = generate.generate_reply,
) -> WriteReport:
    """Choose and write until nothing is due or `until` is true. Safe in several workers."""
    now = clock()
    _take_back_sent_back(now)
    # Give up what can no longer be written.
    lost = Stone.objects.to_write(now).select_related("presence__agent", "thread", "draft")
    given_up = sum(_give_up(stone, why) for stone in lost if (why := _why_lost(stone, now)))
    laid = WriteReport(given_up=given_up)
    for presence in scheduler.due(clock()):
        if not until() and scheduler.is_open(presence, clock()):
            laid.chosen += scheduler.choose(presence, now=clock()) is not None
    now = clock()
    due = Stone.objects.to_write(now).filter(presence__in=scheduler.able(now), tries__lt=MOST_TRIES)
    for stone in due.select_related("presence__agent").order_by("look_at", "pk"):
        if until() or not scheduler.is_open(stone.presence, clock()):
            continue
        if taken := _take(stone, worker=worker, now=clock()):
            name = _write(*taken, clock=clock, until=until, speak=speak)
            setattr(laid, name, getattr(laid, name) + 1)
    return laid


@transaction.atomic(durable=True)
def _take(due: Stone, *, worker: str, now: datetime) -> tuple[Stone, Activation] | None:
    """Start an activation and count the attempt; None if stone or agent is taken."""
    rows = Stone.objects.to_write(now).filter(tries__lt=MOST_TRIES).select_related(
        "presence__agent__settings", "presence__account__surface", "thread", "kernel", "draft"
    )  # fmt: skip
    stone = rows.select_for_update(of=("self",), skip_locked=True).filter(pk=due.pk).first()
    if stone is None:
        return None
    try:
        woken = activation_services.start(
            stone.presence, purpose=Purpose.STONE, why=stone.why, worker=worker, now=now
        )
    except StaleState:
        return None  # the agent has another activation; retry in the next round
    stone.tries += 1
    look_at = now + retry_delay(stone.tries)
    Stone.objects.filter(pk=stone.pk).update(tries=stone.tries, look_at=look_at)
    return stone, woken


def retry_delay(tries: int) -> timedelta:
    return min(FIRST_WAIT * (1 << min(tries - 1, 10)), LONGEST_WAIT)


def _write(stone: Stone, woken: Activation, *, clock: Clock, until: Until, speak: Speak) -> str:
    """Write and store a stone; return the name of a counter of `WriteReport`."""
    try:
        brief, context = briefs.stone_brief(stone, now=clock())
        if before := stone.draft:
            notes = (*brief.notes, f"A person sent the last draft back: {before.why}")
            seed = brief.seed + before.pk
            brief = replace(brief, notes=notes, before=before.text, seed=seed)
        stop = StopSignal(woken, until)
        written, voice = speak(woken, brief, context, clock=clock, is_ending=stop)
        _keep(stone, woken, written, voice, now=clock())
    except LeaseLost:
        return "later"  # another worker has it now
    except DatabaseError:
        raise  # nothing can be stored now; the lease will expire
    except (VoiceError, RuleBroken, SurfaceError) as error:
        return _not_written(stone, woken, error, error.reason, now=clock())
    except Exception as error:
        logger.exception("a stone failed in us", extra={"stone_id": stone.pk})
        why = reason("activation.program_failed", name=type(error).__name__)
        return _not_written(stone, woken, error, why, now=clock())
    return "written"


@transaction.atomic(durable=True)
def _keep(stone: Stone, woken: Activation, written: Reply, voice: str, *, now: datetime) -> None:
    """Store draft, stone and activation, or nothing if the lease was lost."""
    deleted = Message.objects.filter(pk=stone.thread_id or 0).exclude(deleted_at=None)
    words = DraftWords(
        what=DraftKind.POST, title=written.title, text=written.text,
        community=presences.community_of(stone.presence), origin=voice, is_begun=True,
        parts=(written.terms, written.pointer, written.exit),
    )  # fmt: skip
    also = [(deleted.exists(), "stone.parent_deleted")]
    draft = put_down(woken, words, now=now, also=also)
    if not _ours(stone).update(state=StoneState.WRITTEN, draft=draft, outcome=""):
        raise StaleState(_lazy("Somebody else decided on this stone meanwhile."))
    wrote = reason("activation.wrote_draft", pk=str(draft.pk))
    activation_services.finish(woken, Ended.DONE, wrote, now=now, draft=draft)
    state = reason("stone.draft_state", state=draft.state_name)
    _record("written", stone, state, draft=draft.pk, voice=voice)


@transaction.atomic(durable=True)
def _not_written(
    stone: Stone, woken: Activation, error: Exception, why: StoredReason, *, now: datetime
) -> str:
    """Record the failure and the next attempt, or give the stone up."""
    ended, facts = _what_next(stone, woken, error, why, now=now)
    try:
        activation_services.finish(woken, ended, why, now=now)
    except LeaseLost:
        return "later"
    if _ours(stone).update(**facts) and "state" in facts:
        _record("given_up", stone, facts["outcome"], tries=stone.tries)
        return "given_up"
    return "later"


def _what_next(
    stone: Stone, woken: Activation, error: Exception, why: StoredReason, *, now: datetime
) -> tuple[Ended, dict[str, Any]]:
    """State of the activation and of the stone. Without a request, no attempt is counted."""
    was_asked = woken.steps.filter(kind="asked").exists()
    if by := stop_asked_by(woken.pk):
        return Ended.RELEASED, {"outcome": stopped(by), "state": StoneState.GIVEN_UP}
    if isinstance(error, VoiceStopping):
        return Ended.RELEASED, {"outcome": why, "look_at": now, "tries": stone.tries - 1}
    if isinstance(error, OutOfBudget):
        tries = stone.tries if was_asked else stone.tries - 1
        return Ended.EXHAUSTED, {"outcome": why, "look_at": error.until, "tries": tries}
    # A changed setting is not a failure.
    ended = Ended.RELEASED if isinstance(error, NotAllowed | StaleState) else Ended.FAILED
    if stone.tries >= MOST_TRIES:
        outcome = reason("stone.tried_out", most_tries=MOST_TRIES, why=why)
        return ended, {"outcome": outcome, "state": StoneState.GIVEN_UP}
    wait = max(retry_delay(stone.tries), getattr(error, "wait", None) or timedelta())
    return ended, {"outcome": why, "look_at": now + wait}


def _ours(stone: Stone) -> QuerySet[Stone]:
    """Query for the stone while this attempt is the current one."""
    return Stone.objects.filter(pk=stone.pk, state=StoneState.CHOSEN, tries=stone.tries)


def _take_back_sent_back(now: datetime) -> None:
    """Make stones due again whose drafts were sent back."""
    written = Stone.objects.filter(state=StoneState.WRITTEN, draft__judged=Feedback.SENT_BACK)
    for stone in written.select_related("presence__agent", "draft"):
        with transaction.atomic():
            unmoved = Stone.objects.filter(pk=stone.pk, state=StoneState.WRITTEN, draft=stone.draft)
            if unmoved.update(state=StoneState.CHOSEN, tries=0, look_at=now):
                _record("taken_back", stone, stone.draft.why if stone.draft else "")


def _why_lost(stone: Stone, now: datetime) -> StoredReason | str:
    if stone.presence.ended_at:
        return "stone.presence_ended"
    if stone.tries >= MOST_TRIES:
        return reason("stone.worker_died", most_tries=MOST_TRIES)
    if stone.kernel_id is None and (stone.thread is None or stone.thread.deleted_at):
        return "stone.parent_gone"
    sent_back_at = stone.draft.decided_at if stone.draft else None
    if now - (sent_back_at or stone.chosen_at) >= STALE_AFTER:
        return several([reason("stone.too_late"), *filter(None, [stone.outcome])])
    return ""


@transaction.atomic
def _give_up(stone: Stone, why: StoredReason | str) -> int:
    ours = _ours(stone).update(state=StoneState.GIVEN_UP, outcome=why)
    if ours:
        _record("given_up", stone, why, tries=stone.tries)
    return ours


def _record(deed: str, stone: Stone, why: StoredReason | str, **facts: object) -> None:
    actor = stone.presence.agent.ledger_name
    AuditEvent.objects.record(f"stone.{deed}", actor=actor, subject=stone, why=why, **facts)
