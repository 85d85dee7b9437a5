"""Record deliveries that did not end in `sent`."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from surfaces.accounts.models.account import Account, AccountState
from surfaces.accounts.services import stop_account
from surfaces.audit.models import AuditEvent
from surfaces.drafts.attempts import give_up, retry_delay
from surfaces.drafts.models import Draft, DraftKind, DraftState, DraftWait
from surfaces.errors import Limited, Refused, SurfaceError, TryLater
from surfaces.messages import reply_state
from surfaces.text.reasons import StoredReason

Why = str | StoredReason
BREATH = timedelta(seconds=5)  # after a request that was not made
LONGEST_SILENCE = timedelta(minutes=10)  # while a service is down


def record_not_sent(draft: Draft, error: SurfaceError, *, now: datetime) -> bool:
    """Record that nothing was sent: retry later or fail. Return whether to continue."""
    if isinstance(error, Refused):
        if error.permanent:
            give_up(draft, error.reason, now=now, permanent=True)
        else:
            put_off(draft, error.reason, now=now, cause=DraftWait.RETRY)
        return True
    if isinstance(error, TryLater):
        until = put_off(
            draft, error.reason, now=now, wait=error.wait, counts=error.asked, cause=_cause(error)
        )
        return _account_waits(draft, error, until, now=now)
    put_off(draft, error.reason, now=now, counts=False, cause=DraftWait.HOLD)
    stop_account(draft.account, error, now=now)
    return False


def _cause(error: TryLater) -> DraftWait:
    if isinstance(error, Limited):
        return DraftWait.LIMIT
    return DraftWait.RETRY if error.asked else DraftWait.SERVICE


def _account_waits(draft: Draft, error: TryLater, until: datetime, *, now: datetime) -> bool:
    account = draft.account
    if isinstance(error, Limited):
        if draft.what == DraftKind.POST:
            return True  # posts have their own rate limit; replies need not wait for it
        ready_at = now + error.wait
        account.becomes(
            AccountState.LIMITED, now=now, why=error.reason, until=ready_at, quiet_until=ready_at
        )
        return False
    if not error.asked:
        account.becomes(AccountState.DOWN, now=now, why=error.reason)
        # Wait as long as it has been down: short after a hiccup, long in an outage.
        pause = min(max(now - account.state_since, BREATH), LONGEST_SILENCE)
        Account.objects.filter(pk=account.pk).update(quiet_until=max(until, now + pause))
        return False
    return True


def put_off(
    draft: Draft,
    why: Why,
    *,
    now: datetime,
    cause: DraftWait,
    wait: timedelta | None = None,
    counts: bool = True,
) -> datetime:
    """Return it to approved. A request that was not made is no attempt."""
    pause = retry_delay(draft.sendings, draft.account.interval) if counts else BREATH
    until = now + max(pause, wait or timedelta())
    facts: dict[str, Any] = {"not_before": until, "why": why, "lease_until": None}
    facts["waits_for"] = cause
    with transaction.atomic():
        if not counts:
            facts["sendings"] = max(draft.sendings - 1, 0)
            if draft.sendings > 1:
                reply_state.uncount_attempt(draft.comment())
        draft.advance(DraftState.APPROVED, **facts)
        AuditEvent.objects.record(
            "draft.later", actor="sender", subject=draft, why=why, until=until.isoformat()
        )
    return until


def record_unknown(
    draft: Draft, why: Why, *, now: datetime, look_at: datetime, sender_died: bool = False
) -> None:
    """It may have been sent: search for it before a retry.

    A request that was begun was made by now, or within the lease by a sender that lost its lock.
    """
    facts: dict[str, Any] = {}
    if draft.asked_at and not draft.challenge:
        made_by = max(now, draft.lease_until or now) if sender_died else now
        facts = {
            "unconfirmed_since": draft.unconfirmed_since or draft.asked_at,
            "unconfirmed_until": made_by,
            "settled_absent": False,
        }
    with transaction.atomic():
        draft.advance(
            DraftState.UNKNOWN, why=why, look_at=look_at, looks=0, absences=0,
            sender_died=sender_died, lease_until=None, **facts,
        )  # fmt: skip
        AuditEvent.objects.record("draft.unknown", actor="sender", subject=draft, why=why)
