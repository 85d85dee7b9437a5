"""Answer the puzzle a service sets before it shows our words.

Kept first, solved second: the code cannot be fetched again. The words are on the
surface already, hidden, so a failed puzzle never writes them a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from surfaces import pausing
from surfaces.adapters.base import Challenge, Sent, Verified, Writer
from surfaces.adapters.parsing import parse_time
from surfaces.errors import Refused, SurfaceError, TryLater, Unconfirmed
from surfaces.models import Account, AuditEvent, Draft
from surfaces.models.draft import State
from surfaces.outcomes import give_up, stop_account, unknown
from surfaces.recording import record_sent

FAILURES_IN_A_ROW = 3  # then the account falls silent; at ten the service suspends it
AGAIN = timedelta(seconds=2)  # puzzles expire within minutes
GRACE = timedelta(minutes=1)  # between their clock and ours


def keep(draft: Draft, sent: Sent, challenge: Challenge) -> None:
    """Write the challenge down before anything else."""
    draft.note(
        remote_id=sent.remote_id,
        challenge={
            "code": challenge.code,
            "text": challenge.text,
            "expires_at": challenge.expires_at.isoformat(),
            "content": sent.content,
            "url": sent.url,
        },
    )


def finish(draft: Draft, writer: Writer, *, clock: Callable[[], datetime]) -> bool:
    """Answer the kept challenge. Return whether the account may go on writing."""
    try:
        verdict = writer.answer_challenge(_kept(draft, clock()))
    except (TryLater, Unconfirmed) as error:
        _look_again(draft, error, now=clock())
        return True
    except SurfaceError as error:
        if not isinstance(error, Refused):
            stop_account(draft.account, error, now=clock())
        return _failed(draft, str(error), now=clock())
    if verdict in {Verified.YES, Verified.USED}:
        kept = draft.challenge or {}
        record_sent(
            draft,
            remote_id=draft.remote_id,
            content=kept.get("content"),
            url=kept.get("url") or "",
            now=clock(),
        )
        Account.objects.filter(pk=draft.account_id).update(challenges_failed=0)
        return True
    return _failed(draft, verdict.value, now=clock())


def _kept(draft: Draft, now: datetime) -> Challenge:
    kept = draft.challenge or {}
    return Challenge(
        code=kept.get("code", ""),
        text=kept.get("text", ""),
        expires_at=parse_time(kept.get("expires_at")) or now,
    )


def _look_again(draft: Draft, error: TryLater | Unconfirmed, *, now: datetime) -> None:
    """Ask again soon, while the puzzle lasts; after that only a person can tell."""
    wait = max(AGAIN, (isinstance(error, TryLater) and error.wait) or AGAIN)
    if draft.state != State.UNKNOWN:
        unknown(draft, str(error), look_at=now + wait)
    elif now < _kept(draft, now).expires_at + GRACE:
        draft.note(why=str(error), look_at=now + wait)
    else:
        why = f"Cannot tell whether it was verified: {error}."
        draft.note(why=why, needs_person=True)
        AuditEvent.objects.record("draft.needs_person", actor="sender", subject=draft, why=why)


def _failed(draft: Draft, why: str, *, now: datetime) -> bool:
    give_up(draft, f"The verification failed: {why}.", now=now, permanent=True)
    failures = draft.account.challenge_failed()
    if failures < FAILURES_IN_A_ROW:
        return True
    pausing.pause(
        "account",
        draft.account.name,
        why=f"{failures} verifications in a row failed; the service suspends accounts for that.",
        by="sender",
        now=now,
    )
    return False
