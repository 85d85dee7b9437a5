"""Settle an unknown delivery by what an operator found on the surface."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy
from django_q.tasks import async_task

from surfaces.audit.models import AuditEvent
from surfaces.delivery.record import record_sent
from surfaces.drafts.attempts import give_up, start_attempt
from surfaces.drafts.models import Draft, DraftKind, DraftState
from surfaces.drafts.retry import SEND, _approve_again, undo_facts
from surfaces.errors import BadInput, StaleState
from surfaces.messages.models import MAX_ATTEMPTS, Message
from surfaces.text.reasons import reason


def settle_as_sent(draft: Draft, *, remote_id: str, by: str, now: datetime) -> None:
    """The operator found it: `remote_id` is its id on the service."""
    remote_id = remote_id.strip()
    if not remote_id or len(remote_id) > 500:
        raise BadInput("settle.no_id")
    if draft.state != DraftState.UNKNOWN:
        raise StaleState(reason("settle.not_unknown", state=draft.state_name))
    taken = Message.objects.filter(account=draft.account_id, remote_id=remote_id).first()
    if taken and (not taken.is_ours or Draft.objects.filter(message=taken).exists()):
        raise BadInput("settle.other_message")
    record_sent(
        draft,
        remote_id=remote_id,
        now=now,
        content=taken.content if taken else None,
        created_at=taken.created_at if taken else None,
        actor=by,
        why="look.found_by_person",
    )


def settle_as_not_sent(
    draft: Draft, *, by: str, now: datetime, delay: timedelta = timedelta()
) -> None:
    """The operator did not find it: send it again."""
    if draft.state != DraftState.UNKNOWN or not draft.needs_person:
        raise StaleState(
            _lazy("This draft is %(state)s; there is nothing to settle."), state=draft.state_name
        )
    with transaction.atomic():
        before = undo_facts(draft) | _doubt(draft)
        AuditEvent.objects.record("draft.settled_absent", actor=by, subject=draft, **before)
        if draft.what == DraftKind.REPLY and not start_attempt(draft):
            why = reason("draft.tried_out_absent", most_tries=MAX_ATTEMPTS)
            give_up(draft, why, now=now, permanent=False)
            return
        _approve_again(draft, by=by, at=now, not_before=now + delay, why=reason("draft.absent"))
        async_task(SEND)


def _doubt(draft: Draft) -> dict[str, Any]:
    asked = draft.asked_at.isoformat() if draft.asked_at else ""
    counted = {"looks": draft.looks, "absences": draft.absences}
    return {"remote_id": draft.remote_id, "asked_at": asked, **counted}
