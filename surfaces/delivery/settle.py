"""Settle an unknown delivery by what an operator found on the surface."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy
from django_q.tasks import async_task

from surfaces.audit.models import AuditEvent
from surfaces.delivery.record import record_sent
from surfaces.drafts.attempts import give_up, start_attempt
from surfaces.drafts.models import Draft, DraftKind, DraftState
from surfaces.drafts.retry import SEND, _approve_again, undo_facts
from surfaces.errors import BadInput, StaleState, Unconfirmed
from surfaces.messages.models import MAX_ATTEMPTS, Message
from surfaces.text.reasons import reason


def settle_as_sent(draft: Draft, *, remote_id: str, by: str, now: datetime) -> None:
    remote_id = remote_id.strip()
    if not remote_id or len(remote_id) > 500:
        raise BadInput("settle.no_id")
    if draft.state != DraftState.UNKNOWN:
        raise StaleState(reason("settle.not_unknown", state=draft.state_name))
    taken = Message.objects.filter(account=draft.account_id, remote_id=remote_id).first()
    if taken and (not taken.is_ours or Draft.objects.filter(message=taken).exists()):
        raise BadInput("settle.other_message")
    content, created_at = (taken.content, taken.created_at) if taken else (None, None)
    try:
        record_sent(
            draft, remote_id=remote_id, content=content, created_at=created_at, now=now, actor=by,
            why="look.found_by_person",
        )  # fmt: skip
    except Unconfirmed as error:
        raise BadInput("settle.other_message") from error


def settle_as_not_sent(
    draft: Draft, *, by: str, now: datetime, delay: timedelta = timedelta()
) -> None:
    if draft.state != DraftState.UNKNOWN or not draft.needs_person:
        raise StaleState(
            _lazy("This draft is %(state)s; there is nothing to settle."), state=draft.state_name
        )
    with transaction.atomic():
        before = undo_facts(draft) | {"looks": draft.looks, "absences": draft.absences}
        before["asked_at"] = draft.asked_at.isoformat() if draft.asked_at else ""
        before["remote_id"] = draft.remote_id
        AuditEvent.objects.record("draft.settled_absent", actor=by, subject=draft, **before)
        if draft.what == DraftKind.REPLY and not start_attempt(draft):
            why = reason("draft.tried_out_absent", most_tries=MAX_ATTEMPTS)
            give_up(draft, why, now=now, permanent=False)
            return
        _approve_again(
            draft, by=by, at=now, not_before=now + delay, why="draft.absent", settled_absent=True
        )
        async_task(SEND)
