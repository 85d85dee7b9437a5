"""Lay stones: choose what a post of ours grows from, have it written, hand it to its mode.

    due ──choose──> chosen ──write──> written (its draft goes its own way)
                     │  ^└─later─┐            │
                     │  └────────┴─sent back──┘
                     └──> given up: after three tries, a day later, or when the presence ended

A choice is committed before a voice is asked, once per presence and slot. Words are kept
only together with their draft. So whoever dies in between leaves a stone that is taken up
again, and no post is written twice.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from dialogue import activations, briefing, choosing, speaking
from dialogue.errors import OutOfBudget, Overtaken, VoiceEnding, VoiceError
from dialogue.models import Activation, Presence, Stone
from dialogue.models.activation import Purpose
from dialogue.models.activation import State as Ended
from dialogue.models.stone import MOST_TRIES, StoneState
from dialogue.speaking import LONGEST_ORIGIN
from dialogue.voice.base import Brief, Written
from surfaces import drafting
from surfaces.errors import NotAllowed, RuleBroken, StaleState, SurfaceError
from surfaces.models import AuditEvent, Draft, Message
from surfaces.models.draft import Judged, What

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]
Speak = Callable[..., tuple[Written, str]]

FIRST_WAIT = timedelta(minutes=10)  # after a try that failed; doubles
LONGEST_WAIT = timedelta(hours=6)
STALE_AFTER = timedelta(days=1)  # what it grows from is old then, and the slot long over
USUAL = 20  # of our last posts say where we usually post


@dataclass(slots=True)
class Laid:
    """What one run did, in stones."""

    chosen: int = 0
    written: int = 0
    later: int = 0
    given_up: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())

    def count(self, name: str) -> None:
        setattr(self, name, getattr(self, name) + 1)


def lay_due(
    *,
    worker: str,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    speak: Speak = speaking.speak,
) -> Laid:
    """Choose and write until nothing is due, or `until` says so. Safe to run twice at once."""
    _take_back_sent_back(clock())
    laid = Laid(given_up=_let_go_of_lost(clock()))
    for presence in choosing.due(clock()):
        if not until() and choosing.is_open(presence, clock()):
            laid.chosen += choosing.choose(presence, now=clock()) is not None
    for stone in _due_to_write(clock()):
        if until() or not choosing.is_open(stone.presence, clock()):
            continue
        if taken := _take(stone, worker=worker, now=clock()):
            laid.count(_write(*taken, clock=clock, until=until, speak=speak))
    return laid


def _due_to_write(now: datetime) -> QuerySet[Stone]:
    due = Stone.objects.to_write(now).filter(presence__in=choosing.able(now), tries__lt=MOST_TRIES)
    return due.select_related("presence__agent").order_by("look_at", "pk")


# ── writing ───────────────────────────────────────────────────────────────


@transaction.atomic(durable=True)
def _take(due: Stone, *, worker: str, now: datetime) -> tuple[Stone, Activation] | None:
    """Wake the agent for a stone and count the try; None if it or the agent is taken."""
    rows = Stone.objects.to_write(now).filter(tries__lt=MOST_TRIES).select_related(
        "presence__agent__settings", "presence__account__surface", "thread", "kernel", "draft"
    )  # fmt: skip
    stone = rows.select_for_update(of=("self",), skip_locked=True).filter(pk=due.pk).first()
    if stone is None:
        return None
    try:
        woken = activations.begin(
            stone.presence, purpose=Purpose.STONE, why=stone.why, worker=worker, now=now
        )
    except StaleState:
        return None  # it is awake with something else; this waits for the next round
    stone.tries += 1
    look_at = now + wait_after(stone.tries)
    Stone.objects.filter(pk=stone.pk).update(tries=stone.tries, look_at=look_at)
    return stone, woken


def wait_after(tries: int) -> timedelta:
    return min(FIRST_WAIT * (1 << min(tries - 1, 10)), LONGEST_WAIT)


def _write(
    stone: Stone, woken: Activation, *, clock: Clock, until: Callable[[], bool], speak: Speak
) -> str:
    """Have it written and keep the words; return what became of it, as `Laid` counts."""
    try:
        brief, context = briefing.of_stone(stone, now=clock())
        written, voice = speak(
            woken, _noted(brief, stone.draft), context, clock=clock, is_ending=until
        )
        _keep(stone, woken, written, voice, now=clock())
    except Overtaken:
        return "later"  # somebody else has it now; nothing of ours may be kept
    except DatabaseError:
        raise  # nothing can be written down now; the lease will tell
    except (VoiceError, RuleBroken, SurfaceError) as error:
        return _not_written(stone, woken, error, str(error), now=clock())
    except Exception as error:
        logger.exception("a stone failed in us", extra={"stone_id": stone.pk})
        why = f"Colloquy failed: {type(error).__name__}. The log says where."
        return _not_written(stone, woken, error, why, now=clock())
    return "written"


def _noted(brief: Brief, before: Draft | None) -> Brief:
    """With what a person said of the words before, if they sent them back."""
    if before is None:
        return brief
    note = f"A person sent the last draft back: {before.why}"
    return replace(
        brief, notes=(*brief.notes, note), before=before.text, seed=brief.seed + before.pk
    )


@transaction.atomic(durable=True)
def _keep(stone: Stone, woken: Activation, written: Written, voice: str, *, now: datetime) -> None:
    """Draft, stone and activation in one step; nothing of it if we were overtaken."""
    agent = woken.agent
    account = activations.account_to_speak_from(woken)
    deleted = Message.objects.filter(pk=stone.thread_id or 0).exclude(deleted_at=None)
    activations.check_still(woken, (deleted.exists(), "What it grows from was deleted."))
    draft = drafting.compose(
        account=account,
        what=What.POST,
        title=written.title,
        text=written.text,
        community=community_of(stone.presence),
        by=agent.ledger_name,
        now=now,
        agent=agent.slug,
        origin=voice[:LONGEST_ORIGIN],
        parts=(written.terms, written.pointer, written.exit),
    )
    if not _ours(stone).update(state=StoneState.WRITTEN, draft=draft, outcome=""):
        raise StaleState("Somebody else decided on this stone meanwhile.")
    activations.end(woken, Ended.DONE, f"It wrote draft {draft.pk}.", now=now, draft=draft)
    _record("written", stone, f"Its draft is {draft.state}.", draft=draft.pk, voice=voice)


@transaction.atomic(durable=True)
def _not_written(
    stone: Stone, woken: Activation, error: Exception, why: str, *, now: datetime
) -> str:
    """Write down why, and when it is tried again, unless it was tried often enough."""
    ended, facts = _what_next(stone, woken, error, why, now=now)
    try:
        activations.end(woken, ended, why, now=now)
    except Overtaken:
        return "later"
    is_ours = _ours(stone).update(**facts)
    if is_ours and "state" in facts:
        _record("given_up", stone, facts["outcome"], tries=stone.tries)
        return "given_up"
    return "later"


def _what_next(
    stone: Stone, woken: Activation, error: Exception, why: str, *, now: datetime
) -> tuple[Ended, dict[str, Any]]:
    """How the waking ended, and what becomes of the stone. Not to have asked is no try."""
    was_asked = woken.steps.filter(kind="asked").exists()
    if isinstance(error, VoiceEnding):
        return Ended.RELEASED, {"outcome": why, "look_at": now, "tries": stone.tries - 1}
    if isinstance(error, OutOfBudget):
        tries = stone.tries if was_asked else stone.tries - 1
        return Ended.EXHAUSTED, {"outcome": why, "look_at": error.until, "tries": tries}
    # That a switch moved meanwhile is nobody's failure.
    ended = Ended.RELEASED if isinstance(error, NotAllowed | StaleState) else Ended.FAILED
    if stone.tries >= MOST_TRIES:
        outcome = f"Tried {MOST_TRIES} times. The last time: {why}"
        return ended, {"outcome": outcome, "state": StoneState.GIVEN_UP}
    asked_for = getattr(error, "wait", None) or timedelta()
    look_at = now + max(wait_after(stone.tries), asked_for)
    return ended, {"outcome": why, "look_at": look_at}


def _ours(stone: Stone) -> QuerySet[Stone]:
    """The row, as long as it is the try that we counted."""
    return Stone.objects.filter(pk=stone.pk, state=StoneState.CHOSEN, tries=stone.tries)


def community_of(presence: Presence) -> str:
    """Where its posts go: as set, or else where the account usually posts."""
    if presence.stone_community:
        return presence.stone_community
    ours = Message.objects.stones().filter(account=presence.account_id).exclude(submolt="")
    latest = ours.order_by("-created_at", "-id").values_list("submolt", flat=True)[:USUAL]
    usual = Counter(latest).most_common(1)
    return usual[0][0] if usual else ""


# ── taking back, and letting go ───────────────────────────────────────────


def _take_back_sent_back(now: datetime) -> None:
    """Make due again what a person sent back with a note."""
    written = Stone.objects.filter(state=StoneState.WRITTEN, draft__judged=Judged.SENT_BACK)
    for stone in written.select_related("presence__agent", "draft"):
        with transaction.atomic():
            unmoved = Stone.objects.filter(pk=stone.pk, state=StoneState.WRITTEN, draft=stone.draft)
            if unmoved.update(state=StoneState.CHOSEN, tries=0, look_at=now):
                _record("taken_back", stone, stone.draft.why if stone.draft else "")


def _let_go_of_lost(now: datetime) -> int:
    """Give up what cannot be written any more; return how many."""
    due = Stone.objects.to_write(now).select_related("presence__agent", "thread", "draft")
    return sum(_give_up(stone, why) for stone in due if (why := _why_lost(stone, now)))


def _why_lost(stone: Stone, now: datetime) -> str:
    if stone.presence.ended_at:
        return "The agent does not speak through this account any more."
    if stone.tries >= MOST_TRIES:
        return f"Tried {MOST_TRIES} times. The last one ended with its worker."
    if stone.kernel_id is None and (stone.thread is None or stone.thread.deleted_at):
        return "What it was to grow from is gone."
    sent_back_at = stone.draft.decided_at if stone.draft else None
    if now - (sent_back_at or stone.chosen_at) >= STALE_AFTER:
        return f"Not written within a day. {stone.outcome}".strip()
    return ""


@transaction.atomic
def _give_up(stone: Stone, why: str) -> bool:
    is_ours = _ours(stone).update(state=StoneState.GIVEN_UP, outcome=why)
    if is_ours:
        _record("given_up", stone, why, tries=stone.tries)
    return bool(is_ours)


def _record(deed: str, stone: Stone, why: str, **facts: object) -> None:
    actor = stone.presence.agent.ledger_name
    AuditEvent.objects.record(f"stone.{deed}", actor=actor, subject=stone, why=why, **facts)
