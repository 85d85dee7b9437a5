"""Count attempts of a draft and its comment, wait between them, and give up after the last."""

from datetime import datetime, timedelta

from django.db import transaction

from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft, DraftKind, DraftState
from surfaces.messages import reply_state
from surfaces.messages.models import MAX_ATTEMPTS
from surfaces.text.reasons import StoredReason

LONGEST_WAIT = timedelta(hours=6)


def retry_delay(tries: int, interval: timedelta) -> timedelta:
    """The wait between attempts: it doubles from the account's interval up to 6 h."""
    doublings = min(max(tries - 1, 0), 12)
    return min(interval * (1 << doublings), LONGEST_WAIT)


def start_attempt(draft: Draft) -> bool:
    """Count a new attempt; False after the tenth."""
    if draft.what != DraftKind.REPLY:
        return draft.sendings <= MAX_ATTEMPTS
    return bool(reply_state.count_attempt(draft.comment()))


def give_up(draft: Draft, why: str | StoredReason, *, now: datetime, permanent: bool) -> None:
    with transaction.atomic():
        draft.advance(DraftState.FAILED, why=why, lease_until=None, needs_person=False)
        reply_state.mark_failed(draft.comment(), why)
        AuditEvent.objects.record(
            "draft.failed", actor="sender", subject=draft, why=why, permanent=permanent
        )
