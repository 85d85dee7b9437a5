"""Write down what came of a sending that did not end in `sent`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from surfaces.errors import AuthFailed, Limited, Refused, SurfaceError, Suspended, TryLater
from surfaces.models import Account, AuditEvent, Draft
from surfaces.models.account import State as AccountState
from surfaces.models.draft import State, What
from surfaces.models.message import MOST_TRIES, ReplyStatus

LONGEST_WAIT = timedelta(hours=6)
BREATH = timedelta(seconds=5)  # after a request that never left
LONGEST_SILENCE = timedelta(minutes=10)  # towards a service that is down


def wait_after(tries: int, interval: timedelta) -> timedelta:
    """Between tries the wait doubles from the account's interval to at most 6 h."""
    doublings = min(max(tries - 1, 0), 12)
    return min(interval * (1 << doublings), LONGEST_WAIT)


def not_sent(draft: Draft, error: SurfaceError, *, now: datetime) -> bool:
    """Nothing happened: wait, or give up. Return whether the account may go on."""
    if isinstance(error, Refused):
        if error.permanent:
            give_up(draft, str(error), now=now, permanent=True)
        else:
            later(draft, str(error), now=now)
        return True
    if isinstance(error, TryLater):
        until = later(draft, str(error), now=now, wait=error.wait, counts=error.asked)
        return _account_waits(draft, error, until, now=now)
    later(draft, str(error), now=now, counts=False)
    stop_account(draft.account, error, now=now)
    return False


def _account_waits(draft: Draft, error: TryLater, until: datetime, *, now: datetime) -> bool:
    account = draft.account
    if isinstance(error, Limited):
        if draft.what == What.POST:
            return True  # posts have a budget of their own; replies need not wait for it
        ready_at = now + error.wait
        account.becomes(
            AccountState.LIMITED, now=now, why=str(error), until=ready_at, quiet_until=ready_at
        )
        return False
    if not error.asked:
        account.becomes(AccountState.DOWN, now=now, why=str(error))
        # As long again as it has been down: patient with an outage, quick after a hiccup.
        pause = min(max(now - account.state_since, BREATH), LONGEST_SILENCE)
        Account.objects.filter(pk=account.pk).update(quiet_until=max(until, now + pause))
        return False
    return True


def stop_account(account: Account, error: SurfaceError, *, now: datetime) -> None:
    """Auth failure, suspension or a bill: nothing is written until that ends."""
    state = AccountState.AUTH_FAILED if isinstance(error, AuthFailed) else AccountState.SUSPENDED
    until = error.until if isinstance(error, Suspended) else None
    if account.becomes(state, now=now, why=str(error), until=until):
        AuditEvent.objects.record(
            f"account.{state}", actor="colloquy", subject=account, why=str(error)
        )


def later(
    draft: Draft,
    why: str,
    *,
    now: datetime,
    wait: timedelta | None = None,
    counts: bool = True,
) -> datetime:
    """Put it back among the approved. A request that never left was no try."""
    pause = wait_after(draft.sendings, draft.account.interval) if counts else BREATH
    until = now + max(pause, wait or timedelta())
    facts: dict[str, Any] = {"not_before": until, "why": why, "lease_until": None}
    with transaction.atomic():
        if not counts:
            facts["sendings"] = max(draft.sendings - 1, 0)
            if draft.sendings > 1:
                untry(draft)
        draft.advance(State.APPROVED, **facts)
        AuditEvent.objects.record(
            "draft.later", actor="sender", subject=draft, why=why, until=until.isoformat()
        )
    return until


def begin_try(draft: Draft) -> bool:
    """Count sending again as a try of its own; False after the tenth."""
    if draft.what != What.REPLY:
        return draft.sendings <= MOST_TRIES
    open_still = draft.comment().filter(reply_attempts__lt=MOST_TRIES)
    return bool(open_still.update(reply_attempts=F("reply_attempts") + 1))


def untry(draft: Draft) -> None:
    tried = draft.comment().filter(reply_attempts__gt=0)
    tried.update(reply_attempts=F("reply_attempts") - 1)


def give_up(draft: Draft, why: str, *, now: datetime, permanent: bool) -> None:
    """Fail, visibly: the draft and its comment say why."""
    with transaction.atomic():
        draft.advance(State.FAILED, why=why, lease_until=None, needs_person=False)
        unsent = draft.comment().exclude(reply_status=ReplyStatus.SENT)
        unsent.update(reply_status=ReplyStatus.FAILED, reply_why=why)
        AuditEvent.objects.record(
            "draft.failed", actor="sender", subject=draft, why=why, permanent=permanent
        )


def unknown(draft: Draft, why: str, *, look_at: datetime, sender_died: bool = False) -> None:
    """It may be out there: look before anything is repeated."""
    with transaction.atomic():
        draft.advance(
            State.UNKNOWN,
            why=why,
            look_at=look_at,
            looks=0,
            absences=0,
            sender_died=sender_died,
            lease_until=None,
        )
        AuditEvent.objects.record("draft.unknown", actor="sender", subject=draft, why=why)


def reopen(draft: Draft) -> None:
    """Leave the comment as open as if this draft had never been."""
    draft.comment().exclude(reply_status=ReplyStatus.SENT).update(reply_status=None)
