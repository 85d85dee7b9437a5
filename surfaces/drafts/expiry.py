"""Withdraw expired drafts."""

from datetime import datetime

from django.db import transaction

from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft, DraftState
from surfaces.drafts.staleness import MOST_AT_ONCE
from surfaces.errors import StaleState
from surfaces.messages import reply_state

NOBODY = "draft.expired"


def expire(*, now: datetime) -> int:
    return sum(_expire(draft, now=now) for draft in Draft.objects.expired(now)[:MOST_AT_ONCE])


@transaction.atomic
def _expire(draft: Draft, *, now: datetime) -> bool:
    try:
        draft.advance(DraftState.WITHDRAWN, decided_by="colloquy", decided_at=now, why=NOBODY)
    except StaleState:
        return False  # an operator decided meanwhile
    reply_state.mark_failed(draft.comment(), NOBODY)
    AuditEvent.objects.record("draft.expired", actor="colloquy", subject=draft, why=NOBODY)
    return True
