"""Answer the challenge that a service sets before it shows our text.

It is stored before it is solved, because its code cannot be fetched again. The text is already
on the surface, hidden, so a failed challenge never sends it a second time. An answer publishes:
what stops a sending stops it, too. If the stop does not end before the challenge expires, the
draft fails with that reason. The service counts it as failed, and so do we.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from surfaces.accounts.models.account import Account
from surfaces.accounts.services import stop_account
from surfaces.adapters.base import Writer
from surfaces.adapters.parsing import parse_time
from surfaces.adapters.types import Challenge, SentItem, Verified
from surfaces.audit.models import AuditEvent
from surfaces.delivery import preflight
from surfaces.delivery.outcomes import record_unknown
from surfaces.delivery.record import record_sent
from surfaces.drafts.attempts import give_up
from surfaces.drafts.models import Draft, DraftState
from surfaces.errors import Refused, SurfaceError, TryLater, Unconfirmed
from surfaces.messages import reply_state
from surfaces.messages.models import SpamStatus
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import StoredReason, as_reason, reason

FAILURES_IN_A_ROW = 3  # then the account stops writing; at ten the service suspends it
AGAIN = timedelta(seconds=2)  # challenges expire within minutes
WHILE_STOPPED = timedelta(seconds=10)
GRACE = timedelta(minutes=1)  # clock skew


def store_challenge(draft: Draft, sent: SentItem, challenge: Challenge) -> None:
    """Store the challenge before anything else."""
    kept = {"code": challenge.code, "text": challenge.text, "content": sent.content}
    kept |= {"expires_at": challenge.expires_at.isoformat(), "url": sent.url}
    # What the request did is known now: it is not in doubt.
    known: dict[str, Any] = {"unconfirmed_since": None, "unconfirmed_until": None}
    draft.note(remote_id=sent.remote_id, challenge=kept, **known)


def answer_challenge(draft: Draft, writer: Writer, *, clock: Callable[[], datetime]) -> bool:
    """Answer the stored challenge. Return whether the account may continue to write."""
    if not preflight.may_publish(draft, now=clock()):
        return _stop(draft, preflight.obstacle(draft), now=clock())
    draft.note(challenge={**(draft.challenge or {}), "is_answered": True})
    try:
        verdict = writer.answer_challenge(_kept(draft, clock()))
    except (TryLater, Unconfirmed) as error:
        _look_again(draft, error, now=clock())
        return True
    except SurfaceError as error:
        if not isinstance(error, Refused):
            stop_account(draft.account, error, now=clock())
        return _failed(draft, error.reason, now=clock())
    if verdict in {Verified.YES, Verified.USED}:
        kept = draft.challenge or {}
        text, url = kept.get("content"), kept.get("url") or ""
        try:
            record_sent(draft, remote_id=draft.remote_id, content=text, url=url, now=clock())
        except Unconfirmed as error:
            _ask_a_person(draft, error.reason)
            return True
        Account.objects.filter(pk=draft.account_id).update(challenges_failed=0)
        return True
    return _failed(draft, as_reason(verdict.value), now=clock())


def _stop(draft: Draft, why: StoredReason, *, now: datetime) -> bool:
    """Wait for the end of what stops it as long as the challenge can be answered."""
    expires_at = _kept(draft, now).expires_at
    stopped = reason("verification.stopped", why=why, until=expires_at)
    if now < expires_at:
        look_at = min(now + WHILE_STOPPED, expires_at)
        if draft.state != DraftState.UNKNOWN:
            record_unknown(draft, stopped, now=now, look_at=look_at)
        else:
            draft.note(why=stopped, look_at=look_at)
        return True
    if (draft.challenge or {}).get("is_answered"):
        _ask_a_person(draft, why)  # it may have been published before the stop
        return True
    go_on = _failed(draft, reason("verification.stopped_too_long", why=why), now=now)
    if draft.target and draft.target.spam_status == SpamStatus.SPAM:
        reply_state.reopen(draft.comment())  # unmarked, it is open like any other
    return go_on


def _ask_a_person(draft: Draft, error: StoredReason) -> None:
    why = reason("verification.unsure", error=error)
    with transaction.atomic():
        if draft.state != DraftState.UNKNOWN:
            draft.advance(DraftState.UNKNOWN, lease_until=None)
        draft.note(why=why, needs_person=True)
        AuditEvent.objects.record("draft.needs_person", actor="sender", subject=draft, why=why)


def _kept(draft: Draft, now: datetime) -> Challenge:
    kept = draft.challenge or {}
    expires_at = parse_time(kept.get("expires_at")) or now
    return Challenge(code=kept.get("code", ""), text=kept.get("text", ""), expires_at=expires_at)


def _look_again(draft: Draft, error: TryLater | Unconfirmed, *, now: datetime) -> None:
    wait = max(AGAIN, (isinstance(error, TryLater) and error.wait) or AGAIN)
    if draft.state != DraftState.UNKNOWN:
        record_unknown(draft, error.reason, now=now, look_at=now + wait)
    elif now < _kept(draft, now).expires_at + GRACE:
        draft.note(why=error.reason, look_at=now + wait)
    else:
        _ask_a_person(draft, error.reason)


def _failed(draft: Draft, why: StoredReason, *, now: datetime) -> bool:
    give_up(draft, reason("verification.failed", why=why), now=now, permanent=True)
    failures = draft.account.challenge_failed()
    if failures < FAILURES_IN_A_ROW:
        return True
    why = reason("verification.failed_in_a_row", failures=failures)
    pause_services.pause("account", draft.account.name, why=why, by="sender", now=now)
    return False
