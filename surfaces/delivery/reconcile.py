"""Reconcile deliveries that may have happened, before a retry.

unknown ─search─┬─ found ─────────> sent
                ├─ absent ────────> search again until the service's longest known delay is over
                │                   and it was absent twice; then approved, to be sent again
                ├─ cannot tell ───> after three searches, an operator decides
                └─ no answer ─────> search again, with growing waits
approved ─search in the second before the repeat─┬─ absent ─> the request
                                                 └─ else ───> sent, unknown or later

Where the service honours our idempotency key, one absence is enough and nothing waits.
"""

from contextlib import closing, suppress
from datetime import datetime, timedelta

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from surfaces.accounts.clients import Clock, open_reader
from surfaces.accounts.models.account import Account
from surfaces.accounts.services import stop_account
from surfaces.adapters.types import CannotTell, FoundItem, Look, NotFound
from surfaces.audit.models import AuditEvent
from surfaces.delivery.outcomes import record_unknown
from surfaces.delivery.record import record_sent
from surfaces.drafts.attempts import retry_delay
from surfaces.drafts.models import Draft, DraftKind, DraftState, DraftWait
from surfaces.errors import (
    AuthFailed,
    PaymentRequired,
    StaleState,
    SurfaceError,
    Suspended,
    TryLater,
    Unconfirmed,
)
from surfaces.messages.models import Message
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.workers.locks import WorkerLock, is_alive

LOOKS_TO_BE_SURE = 2  # in a row, without the one in the second before the repeat
LOOKS_BEFORE_A_PERSON = 3  # at lists that prove nothing
LONGEST_PAUSE = timedelta(hours=1)
Transport = httpx.BaseTransport | None
Found = Look | Message | SurfaceError


def first_look() -> timedelta:
    return timedelta(seconds=settings.LOOK_AFTER_SECONDS)


def pause_after(looks: int) -> timedelta:
    return min(first_look() * (1 << min(looks, 12)), LONGEST_PAUSE)


def release_abandoned(sender: WorkerLock, *, now: datetime) -> int:
    """Release drafts of dead senders: not begun → approved, begun → unknown.

    The lock of a sender is free as soon as it is dead. `sender` is about to begin, so whatever it
    still holds is left from a run that broke.
    """
    holders = Draft.objects.sending().order_by().values_list("claimed_by", flat=True).distinct()
    dead = [name for name in holders if name == sender.name or not is_alive(name)]
    freed = 0
    for draft in Draft.objects.sending().filter(claimed_by__in=dead).order_by("lease_until")[:500]:
        with suppress(StaleState):
            if draft.asked_at is None:
                give_back(draft)
            else:
                why, look_at = "sending.sender_died", now + first_look()
                record_unknown(draft, why, now=now, look_at=look_at, sender_died=True)
            freed += 1
    return freed


def give_back(draft: Draft) -> None:
    draft.advance(DraftState.APPROVED, lease_until=None, claimed_by="")


@transaction.atomic(durable=True)
def claim_look(sender: WorkerLock, *, now: datetime) -> Draft | None:
    # A challenge is answered without reading; whether it may be is decided there.
    able = Q(account__in=Account.objects.able_to_read()) | Q(challenge__isnull=False)
    lost = Draft.objects.to_look_for(now).filter(able)
    rows = lost.select_related("account__surface", "target").order_by("look_at", "id")
    draft = rows.select_for_update(of=("self",), skip_locked=True).first()
    if draft:
        pause = pause_after(draft.looks + 1)
        Draft.objects.filter(pk=draft.pk).update(
            claim_number=F("claim_number") + 1, claimed_by=sender.name, look_at=now + pause
        )
        draft.claim_number, draft.look_at = draft.claim_number + 1, now + pause
    return draft


def look_for(draft: Draft, *, clock: Clock, transport: Transport = None) -> None:
    """Search once and record the result. `StaleState`: it was settled meanwhile."""
    found = _find(draft, clock, transport)
    now = clock()
    if isinstance(found, NotFound):
        _absent(draft, now=now)
    elif isinstance(found, AuthFailed):
        # No search, so no absence; it continues with a new credential.
        stop_account(draft.account, found, now=now)
        draft.note(why=reason("look.failed", found=found.reason))
    elif isinstance(found, TryLater):
        wait = max(pause_after(draft.looks + 1), found.wait or timedelta())
        draft.note(why=reason("look.failed", found=found.reason), look_at=now + wait)
    elif why := _record_found(draft, found, now=now):
        _cannot_tell(draft, why, now=now)


def may_repeat(draft: Draft, *, clock: Clock, transport: Transport = None) -> bool:
    """Search in the second before a repeat. False: the draft moved, and nothing may be sent."""
    ready_at, now = draft.repeat_from, clock()
    if ready_at is None:
        return True
    if now < ready_at:  # the delay was raised meanwhile
        _put_off(draft, reason("look.repeat_waits", delay=_delay(draft), at=ready_at), ready_at)
        return False
    found = _find(draft, clock, transport)
    if isinstance(found, NotFound) or (isinstance(found, CannotTell) and draft.settled_absent):
        return True
    now = clock()
    if isinstance(found, TryLater | AuthFailed | Suspended | PaymentRequired):
        wait = max(pause_after(1), (isinstance(found, TryLater) and found.wait) or pause_after(1))
        _put_off(draft, reason("look.failed", found=found.reason), now + wait)
        if not isinstance(found, TryLater):
            stop_account(draft.account, found, now=now)
    elif why := _record_found(draft, found, now=now):
        said = reason("look.cannot_tell", why=why)
        record_unknown(draft, said, now=now, look_at=now + first_look())
    return False


def _put_off(draft: Draft, why: StoredReason, until: datetime) -> None:
    draft.advance(DraftState.APPROVED, not_before=until, why=why, lease_until=None)


def _delay(draft: Draft) -> timedelta:
    return timedelta(seconds=draft.account.surface.longest_delay_seconds)


def _find(draft: Draft, clock: Clock, transport: Transport) -> Found:
    """Search in what the watcher has read, then on the surface."""
    if draft.what == DraftKind.REPLY and draft.target:
        stored = draft.target.children.filter(direction="outgoing", draft=None).first()
        if stored:
            return stored
    asked_at = draft.unconfirmed_since or draft.asked_at or draft.made_at
    since = asked_at - timedelta(minutes=5)
    try:
        with closing(
            open_reader(draft.account, sends=True, clock=clock, transport=transport)
        ) as reader:
            if draft.what == DraftKind.POST:
                return reader.find_own_post(title=draft.title, text=draft.text, since=since)
            target = draft.target
            if target is None:
                return CannotTell("look.no_target")
            post = Message.objects.only("remote_id").get(pk=target.post_id).remote_id
            parent = target.remote_id if draft.what == DraftKind.REPLY else None
            return reader.find_own_reply(
                post_id=post, parent_id=parent, text=draft.text, since=since
            )
    except SurfaceError as error:
        return error


def _record_found(draft: Draft, found: Found, *, now: datetime) -> StoredReason | None:
    """Record what was found as sent, or return why nothing can be concluded."""
    if isinstance(found, SurfaceError):
        return found.reason
    if isinstance(found, CannotTell):
        return as_reason(found.why)
    if isinstance(found, NotFound):
        return None
    item = found.item if isinstance(found, FoundItem) else found
    # The same text may belong to another draft.
    others = Draft.objects.filter(account=draft.account_id, remote_id=item.remote_id)
    if others.exclude(pk=draft.pk).exclude(state=DraftState.WITHDRAWN).exists():
        return as_reason("look.same_words")
    try:
        record_sent(
            draft, remote_id=item.remote_id, content=item.content, created_at=item.created_at,
            url=item.url, now=now, why="look.found",
        )  # fmt: skip
    except Unconfirmed as error:
        return error.reason
    return None


def _absent(draft: Draft, *, now: datetime) -> None:
    counts = {"looks": draft.looks + 1, "absences": draft.absences + 1}
    ready_at = draft.repeat_from or now
    needed = 1 if draft.account.surface.traits.honours_key else LOOKS_TO_BE_SURE
    if counts["absences"] < needed or now < ready_at:
        again = now + pause_after(draft.looks)
        if now < ready_at:
            again = min(again, ready_at)
        why = reason("look.absent", checks=counts["absences"], delay=_delay(draft), at=ready_at)
        draft.note(look_at=again, why=why, **counts)
        return
    # If our process died, the service did not fail: do not wait.
    wait = timedelta() if draft.sender_died else retry_delay(draft.sendings, draft.account.interval)
    not_before = max(now, (draft.unconfirmed_until or now) + wait)
    why = reason("look.absent_repeat", checks=counts["absences"], at=not_before)
    with transaction.atomic():
        draft.advance(
            DraftState.APPROVED, why=why, not_before=not_before, waits_for=DraftWait.RETRY,
            looks=0, absences=0,
        )  # fmt: skip
        AuditEvent.objects.record("draft.found_absent", actor="sender", subject=draft)


def _cannot_tell(draft: Draft, why: str | StoredReason, *, now: datetime) -> None:
    needs_person = draft.looks + 1 >= LOOKS_BEFORE_A_PERSON
    again, said = now + pause_after(draft.looks), reason("look.cannot_tell", why=as_reason(why))
    counts = {"looks": draft.looks + 1, "absences": 0}
    draft.note(look_at=again, needs_person=needs_person, why=said, **counts)
    if needs_person:
        AuditEvent.objects.record("draft.needs_person", actor="sender", subject=draft, why=why)
