"""Carry approved drafts to their surface, each at most once.

    claim ──commit──> begin ──commit──> POST ──> record
      │                 │                 └─ no answer ─> unknown ─> look ─> sent | again | a person
      │                 └─ paused, shadow, late: it does not leave
      └─ a dead sender's claims lapse: not begun → approved, begun → unknown

What may have happened is never repeated before somebody looked. A sender holds a
lock in the database while it lives, so nobody looks for words that a sleeping
sender may still post. Nothing else in the program may import the writing side.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

import httpx
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F

from surfaces import reconciling, verifying
from surfaces.access import access_to, opened
from surfaces.adapters.base import Kind, Sent, Writer
from surfaces.adapters.writers import WRITERS
from surfaces.errors import (
    NotAllowed,
    Refused,
    RuleBroken,
    StaleState,
    SurfaceError,
    Unconfirmed,
)
from surfaces.leaving import begin, is_paused, lease
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.models.account import Mode
from surfaces.models.draft import State, What
from surfaces.outcomes import not_sent, stop_account, unknown
from surfaces.reconciling import first_look, give_back
from surfaces.recording import record_sent
from surfaces.sender import Sender

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]

BATCH = 50  # drafts of one account per claim


@dataclass(slots=True)
class Carried:
    """What one run of sending did, in drafts."""

    sent: int = 0
    shadowed: int = 0
    later: int = 0
    unknown: int = 0
    failed: int = 0
    lapsed: int = 0
    looked: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())

    def count(self, state: str) -> None:
        if name := COUNTED.get(State(state)):
            setattr(self, name, getattr(self, name) + 1)


COUNTED = {
    State.SENT: "sent",
    State.SHADOWED: "shadowed",
    State.APPROVED: "later",
    State.UNKNOWN: "unknown",
    State.FAILED: "failed",
    State.WAITING: "lapsed",
}


def deliver_due(
    sender: Sender,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
) -> Carried:
    """Send until nothing is due, or `until` says so. Safe to run many times at once."""
    carried = Carried()
    sender.hold()
    reconciling.release_dead(sender, now=clock())
    while not until():
        # In turns: a service that hangs when asked must not keep ready words waiting.
        doubtful = reconciling.claim_look(sender, now=clock())
        if doubtful:
            carried.looked += 1
            _settle(doubtful, clock=clock, transport=transport)
        batch = claim(sender, now=clock())
        if batch:
            deliver(batch, carried, clock=clock, until=until, transport=transport)
        if not (doubtful or batch):
            break
    return carried


@transaction.atomic(durable=True)
def claim(sender: Sender, *, now: datetime) -> list[Draft]:
    """Take the longest-waiting draft that may leave, and others of its account."""
    may_leave = (
        Draft.objects.due(now)
        .filter(account__in=Account.objects.able_to_write(now).exclude(mode=Mode.OFF))
        .exclude(is_paused())
        .order_by("not_before", "id")
        .select_for_update(of=("self",), skip_locked=True)
    )
    first = may_leave.only("account_id").first()
    if first is None:
        return []
    of_account = may_leave.filter(account=first.account_id)
    batch = list(of_account.select_related("account__surface", "target__post")[:BATCH])
    taken = {"claimed_by": sender.name, "lease_until": now + lease(), "asked_at": None}
    Draft.objects.filter(pk__in=[draft.pk for draft in batch]).update(
        state=State.SENDING, claim_number=F("claim_number") + 1, **taken
    )
    for draft in batch:
        draft.state, draft.claim_number = State.SENDING, draft.claim_number + 1
        draft.claimed_by, draft.asked_at = sender.name, None
    return batch


def deliver(
    batch: list[Draft],
    carried: Carried,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
) -> None:
    """Send claimed drafts of one account, one after the other, over one connection."""
    try:
        writer = _open_writer(batch[0].account, clock=clock, transport=transport)
    except SurfaceError as error:
        stop_account(batch[0].account, error, now=clock())
        _give_back(batch)
        return
    try:
        for position, draft in enumerate(batch):
            if until():
                return _give_back(batch[position:])
            if not carry(draft, writer, carried, clock=clock):
                return _give_back(batch[position + 1 :])
    finally:
        writer.close()


def _open_writer(
    account: Account, *, clock: Clock, transport: httpx.BaseTransport | None = None
) -> Writer:
    access = access_to(account, sends=True, clock=clock, transport=transport)
    return opened(WRITERS[account.surface.kind], access)


def _give_back(batch: list[Draft]) -> None:
    for draft in batch:
        try:
            give_back(draft)
        except StaleState:
            logger.info("a claimed draft was taken over", extra={"draft_id": draft.pk})


def carry(draft: Draft, writer: Writer, carried: Carried, *, clock: Clock) -> bool:
    """Send one draft; return False when the rest of its batch should wait."""
    try:
        go_on = _say(draft, writer, clock=clock) if begin(draft, now=clock()) else True
    except StaleState:
        # Somebody took it from us while we were slow; theirs is the word.
        logger.warning("a draft was taken over", extra={"draft_id": draft.pk})
        return False
    carried.count(draft.state)
    return go_on


def _say(draft: Draft, writer: Writer, *, clock: Clock) -> bool:
    """Say it. What fails in us after we may have asked is a doubt, and no reason to stop."""
    try:
        return _make_request(draft, writer, clock=clock)
    except (RuleBroken, OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("a sending failed in us", extra={"draft_id": draft.pk})
        draft.refresh_from_db(fields=["state"])
        why = f"Colloquy failed while it was sent ({type(error).__name__})."
        unknown(draft, why, look_at=clock() + first_look())
        return True


def _make_request(draft: Draft, writer: Writer, *, clock: Clock) -> bool:
    """Make the request and write down what came of it."""
    try:
        sent = _ask(draft, writer)
    except Unconfirmed as error:
        unknown(draft, str(error), look_at=clock() + first_look())
        return True
    except SurfaceError as error:
        return not_sent(draft, error, now=clock())
    if sent.challenge:
        verifying.keep(draft, sent, sent.challenge)
        return verifying.finish(draft, writer, clock=clock)
    record_sent(
        draft,
        remote_id=sent.remote_id,
        content=sent.content,
        created_at=sent.created_at,
        url=sent.url,
        raw=sent.raw,
        now=clock(),
    )
    return True


def _ask(draft: Draft, writer: Writer) -> Sent:
    key = str(draft.key)
    if draft.what == What.POST:
        return writer.create_post(
            title=draft.title, text=draft.text, community=draft.community, key=key
        )
    target = draft.target
    if target is None:
        raise Refused("the draft answers nothing")
    if draft.what == What.COMMENT:
        return writer.reply(post_id=target.remote_id, parent_id=None, text=draft.text, key=key)
    return writer.reply(
        post_id=target.post.remote_id, parent_id=target.remote_id, text=draft.text, key=key
    )


def _settle(draft: Draft, *, clock: Clock, transport: httpx.BaseTransport | None) -> None:
    """Look into one doubt. Whatever goes wrong, it is looked into again, and others go on."""
    try:
        if draft.challenge:
            _verify(draft, clock=clock, transport=transport)
        else:
            reconciling.look(draft, clock=clock, transport=transport)
    except StaleState:
        logger.info("a doubt was settled elsewhere", extra={"draft_id": draft.pk})
    except SurfaceError as error:
        stop_account(draft.account, error, now=clock())
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("looking failed in us", extra={"draft_id": draft.pk})


def _verify(draft: Draft, *, clock: Clock, transport: httpx.BaseTransport | None) -> None:
    """Finish an open verification."""
    writer = _open_writer(draft.account, clock=clock, transport=transport)
    try:
        verifying.finish(draft, writer, clock=clock)
    finally:
        writer.close()


# ── taking back ───────────────────────────────────────────────────────────


def _kind(draft: Draft) -> Kind:
    return Kind.POST if draft.what == What.POST else Kind.COMMENT


def can_retract(draft: Draft) -> bool:
    is_out = draft.state == State.SENT and draft.retracted_at is None
    return is_out and _kind(draft) in draft.account.surface.traits.can_delete


def retract(draft: Draft, *, by: str, now: datetime) -> None:
    """Take sent words back where the service can delete."""
    if not can_retract(draft) or draft.message is None:
        raise NotAllowed(f"{draft.account.surface.traits.label} cannot take this back.")
    try:
        writer = _open_writer(draft.account, clock=lambda: now)
    except SurfaceError as error:
        raise NotAllowed(f"It is still there: {error}.") from error
    try:
        writer.delete(kind=_kind(draft), remote_id=draft.message.remote_id)
    except SurfaceError as error:
        raise NotAllowed(f"It is still there: {error}.") from error
    finally:
        writer.close()
    with transaction.atomic():
        draft.note(retracted_at=now, why="Taken back after it was sent.")
        Message.objects.filter(draft=draft).update(deleted_at=now)
        AuditEvent.objects.record("draft.retracted", actor=by, subject=draft)
