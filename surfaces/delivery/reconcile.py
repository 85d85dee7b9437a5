"""Reconcile deliveries that may have happened, before a retry.

unknown ─search─┬─ found ─────────> sent
                ├─ twice absent ──> approved: sent again, as a new attempt
                ├─ cannot tell ───> after three searches, an operator decides
                └─ no answer ─────> search again, with growing waits
"""

from contextlib import suppress
from datetime import datetime, timedelta

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models import F

from surfaces.accounts.clients import Clock, open_reader
from surfaces.accounts.models.account import Account
from surfaces.accounts.services import stop_account
from surfaces.adapters.types import CannotTell, FoundItem, Item, Look, NotFound
from surfaces.audit.models import AuditEvent
from surfaces.delivery.outcomes import record_unknown
from surfaces.delivery.record import record_sent
from surfaces.drafts.attempts import retry_delay
from surfaces.drafts.models import Draft, DraftKind, DraftState, DraftWait
from surfaces.errors import AuthFailed, StaleState, SurfaceError, TryLater
from surfaces.messages.models import Message
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.workers.locks import WorkerLock, is_alive

LOOKS_TO_BE_SURE = 2  # in a row: a late request may still arrive after the first
LOOKS_BEFORE_A_PERSON = 3  # at lists that prove nothing
LONGEST_PAUSE = timedelta(hours=1)
Transport = httpx.BaseTransport | None


def first_look() -> timedelta:
    return timedelta(seconds=settings.LOOK_AFTER_SECONDS)


def pause_after(looks: int) -> timedelta:
    return min(first_look() * (1 << min(looks, 12)), LONGEST_PAUSE)


def release_abandoned(sender: WorkerLock, *, now: datetime) -> int:
    """Release drafts of dead senders: not begun → approved, begun → unknown.

    `sender` is about to begin, so whatever it still holds is left from a run that broke.
    """
    held = Draft.objects.abandoned(now) | Draft.objects.held_by(sender.name)
    freed = 0
    for draft in held.select_related("account").order_by("lease_until")[:500]:
        if draft.claimed_by == sender.name or not is_alive(draft.claimed_by):
            with suppress(StaleState):
                if draft.asked_at is None:
                    give_back(draft)
                else:
                    why = "sending.sender_died"
                    record_unknown(draft, why, look_at=now + first_look(), sender_died=True)
                freed += 1
    return freed


def give_back(draft: Draft) -> None:
    draft.advance(DraftState.APPROVED, lease_until=None, claimed_by="")


@transaction.atomic(durable=True)
def claim_look(sender: WorkerLock, *, now: datetime) -> Draft | None:
    lost = Draft.objects.to_look_for(now).filter(account__in=Account.objects.able_to_read())
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
    stored = None  # the watcher may have read our text already
    if draft.what == DraftKind.REPLY and draft.target:
        stored = draft.target.children.filter(direction="outgoing", draft=None).first()
    if stored:
        _record(draft, stored, now=clock())
    else:
        _conclude(draft, _ask(draft, clock, transport), now=clock())


def _ask(draft: Draft, clock: Clock, transport: Transport) -> Look | SurfaceError:
    reader = open_reader(draft.account, sends=True, clock=clock, transport=transport)
    since = (draft.asked_at or draft.made_at) - timedelta(minutes=5)
    try:
        if draft.what == DraftKind.POST:
            return reader.find_own_post(title=draft.title, text=draft.text, since=since)
        target = draft.target
        if target is None:
            return CannotTell("look.no_target")
        post = Message.objects.only("remote_id").get(pk=target.post_id).remote_id
        parent = target.remote_id if draft.what == DraftKind.REPLY else None
        return reader.find_own_reply(post_id=post, parent_id=parent, text=draft.text, since=since)
    except SurfaceError as error:
        return error
    finally:
        reader.close()


def _conclude(draft: Draft, found: Look | SurfaceError, *, now: datetime) -> None:
    if isinstance(found, FoundItem):
        # The same text may belong to another draft.
        others = Draft.objects.filter(account=draft.account_id, remote_id=found.item.remote_id)
        if others.exclude(pk=draft.pk).exclude(state=DraftState.WITHDRAWN).exists():
            _cannot_tell(draft, "look.same_words", now=now)
        else:
            _record(draft, found.item, now=now)
    elif isinstance(found, NotFound):
        _absent(draft, now=now)
    elif isinstance(found, AuthFailed):
        # No search, so no absence; it continues with a new credential.
        stop_account(draft.account, found, now=now)
        draft.note(why=reason("look.failed", found=found.reason))
    elif isinstance(found, TryLater):
        wait = max(pause_after(draft.looks + 1), found.wait or timedelta())
        draft.note(why=reason("look.failed", found=found.reason), look_at=now + wait)
    else:
        why = found.why if isinstance(found, CannotTell) else found.reason
        _cannot_tell(draft, why, now=now)


def _record(draft: Draft, found: Message | Item, *, now: datetime) -> None:
    record_sent(
        draft, remote_id=found.remote_id, content=found.content, created_at=found.created_at,
        url=found.url, now=now, why="look.found",
    )  # fmt: skip


def _absent(draft: Draft, *, now: datetime) -> None:
    if draft.absences + 1 < LOOKS_TO_BE_SURE:
        again = now + pause_after(draft.looks)
        counts = {"looks": draft.looks + 1, "absences": draft.absences + 1}
        draft.note(look_at=again, why="look.absent_once", **counts)
        return
    # If our process died, the service did not fail: do not wait.
    wait = timedelta() if draft.sender_died else retry_delay(draft.sendings, draft.account.interval)
    with transaction.atomic():
        draft.advance(
            DraftState.APPROVED, why="look.absent_twice", not_before=now + wait,
            waits_for=DraftWait.RETRY, looks=0, absences=0,
        )  # fmt: skip
        AuditEvent.objects.record("draft.found_absent", actor="sender", subject=draft)


def _cannot_tell(draft: Draft, why: str | StoredReason, *, now: datetime) -> None:
    needs_person = draft.looks + 1 >= LOOKS_BEFORE_A_PERSON
    again, said = now + pause_after(draft.looks), reason("look.cannot_tell", why=as_reason(why))
    counts = {"looks": draft.looks + 1, "absences": 0}
    draft.note(look_at=again, needs_person=needs_person, why=said, **counts)
    if needs_person:
        AuditEvent.objects.record("draft.needs_person", actor="sender", subject=draft, why=why)
