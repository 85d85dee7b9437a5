"""Delete a sent message at the service, where it allows that."""

from contextlib import closing
from datetime import datetime

from django.db import transaction

from surfaces.audit.models import AuditEvent
from surfaces.delivery.sender import _kind, _open_writer
from surfaces.drafts.models import Draft, DraftState
from surfaces.errors import NotAllowed, SurfaceError
from surfaces.messages.models import Message
from surfaces.text.reasons import reason


def can_retract(draft: Draft) -> bool:
    is_out = draft.state == DraftState.SENT and draft.retracted_at is None
    return is_out and _kind(draft) in draft.account.surface.traits.can_delete


def retract(draft: Draft, *, by: str, now: datetime) -> None:
    if not can_retract(draft) or draft.message is None:
        raise NotAllowed(reason("retract.not_possible", label=draft.account.surface.traits.label))
    try:
        with closing(_open_writer(draft.account, clock=lambda: now)) as writer:
            writer.delete(kind=_kind(draft), remote_id=draft.message.remote_id)
    except SurfaceError as error:
        raise NotAllowed(reason("retract.failed", error=error.reason)) from error
    with transaction.atomic():
        draft.note(retracted_at=now, why="sending.retracted")
        Message.objects.filter(draft=draft).update(deleted_at=now)
        AuditEvent.objects.record("draft.retracted", actor=by, subject=draft)
