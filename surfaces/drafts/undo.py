"""Undo a decision on a draft, while possible.

    approved ──> waiting        withdrawn, rejected, sent back ──> what it was
    retried  ──> failed         settled as absent              ──> unknown

The audit log has the last decision and the state before; nothing else is undone.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft, DraftKind, DraftState
from surfaces.drafts.retry import lock_draft
from surfaces.errors import NotAllowed, StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, Message, ReplyStatus

LATEST = timedelta(minutes=10)  # later the comment may have been considered again
STARTED = _lazy("Too late to undo: sending has started.")
TOO_LATE = {
    DraftState.SENDING: STARTED,
    DraftState.UNKNOWN: STARTED,
    DraftState.SENT: _lazy("Too late to undo: it was sent."),
}
UNDECIDED = {"decided_by": "", "decided_at": None, "judged": "", "approved_digest": ""}


@transaction.atomic
def undo_decision(draft: Draft, *, by: str, now: datetime) -> None:
    row = lock_draft(draft)
    line = last_decision(row)
    take = TAKES.get(line.action) if line else None
    if line is None or take is None:
        raise NotAllowed(_lazy("There is no decision on this draft that could be taken back."))
    if row.state in TOO_LATE:
        raise StaleState(TOO_LATE[DraftState(row.state)])
    if row.state == DraftState.WITHDRAWN and now - line.at > LATEST:
        raise StaleState(
            _lazy("Too late: this was decided over 10 min ago. Write a new answer instead.")
        )
    try:
        with transaction.atomic():
            take(row, line.facts)
    except IntegrityError as error:
        raise StaleState(_lazy("Another answer to this comment is under way already.")) from error
    AuditEvent.objects.record("draft.taken_back", actor=by, subject=row, undid=line.action)
    draft.refresh_from_db()


def last_decision(row: Draft) -> AuditEvent | None:
    told = AuditEvent.objects.about(row).filter(action__in=[*TAKES, "draft.taken_back"])
    return told.order_by("-id").first()


def _unapprove(row: Draft, facts: dict[str, Any]) -> None:
    row.advance(DraftState.WAITING, why="draft.approval_undone", not_before=None, **UNDECIDED)


def restore_withdrawn(row: Draft, facts: dict[str, Any]) -> None:
    had_failed = facts.get("was") == DraftState.FAILED
    open_still = row.comment().alive().not_spam().filter(OPEN)
    attempts = facts.get("attempts", 0)
    restored = (
        reply_state.restore(open_still, ReplyStatus.FAILED, attempts=attempts, why=row.why)
        if had_failed
        else reply_state.mark_pending(open_still)
    )
    if row.what == DraftKind.REPLY and not restored:
        raise StaleState(_lazy("What it answers was settled meanwhile."))
    why = facts.get("before") or "draft.reopened"
    row.advance(DraftState.FAILED if had_failed else DraftState.WAITING, why=why, **UNDECIDED)


def _unretry(row: Draft, facts: dict[str, Any]) -> None:
    row.advance(DraftState.FAILED, why=facts.get("before") or "draft.retry_undone", **UNDECIDED)
    attempts = facts.get("attempts", 0)
    reply_state.restore(row.comment(), ReplyStatus.FAILED, attempts=attempts, why=row.why)


def _unsettle(row: Draft, facts: dict[str, Any]) -> None:
    names = ("remote_id", "looks", "absences")
    kept: dict[str, Any] = {name: facts[name] for name in names if name in facts}
    asked = facts.get("asked_at")
    kept["settled_absent"] = False
    kept["asked_at"] = datetime.fromisoformat(asked) if asked else None
    why = facts.get("before") or "draft.unknown"
    row.advance(DraftState.UNKNOWN, needs_person=True, why=why, **UNDECIDED, **kept)


TAKES: dict[str, Callable[[Draft, dict[str, Any]], None]] = {
    "draft.approved": _unapprove,
    "draft.withdrawn": restore_withdrawn,
    "draft.rejected": restore_withdrawn,
    "draft.sent_back": restore_withdrawn,
    "draft.retried": _unretry,
    "draft.settled_absent": _unsettle,
}


@transaction.atomic
def undo_edit(draft: Draft, *, by: str, now: datetime) -> None:
    """Restore the text before the last edit, if nothing happened since."""
    row = lock_draft(draft)
    line = AuditEvent.objects.about(row).order_by("-id").first()
    if line is None or line.action != "draft.edited" or row.state != DraftState.WAITING:
        raise StaleState(
            _lazy("Something happened to this draft since that edit. Look at it again.")
        )
    row.note(**line.facts["before"])
    AuditEvent.objects.record("draft.edit_undone", actor=by, subject=row)
    draft.refresh_from_db()


@transaction.atomic
def undo_retry_message(message: Message, *, by: str, now: datetime) -> None:
    """Undo the reset of attempts of a comment without a new attempt."""
    line = AuditEvent.objects.about(message).called("message.retried").order_by("-id").first()
    untouched = Message.objects.filter(pk=message.pk, reply_status=None, reply_attempts=0)
    if line is None or "attempts" not in line.facts:
        raise NotAllowed(_lazy("The attempts of this comment were not reset."))
    was, attempts, why = (line.facts[name] for name in ("was", "attempts", "before"))
    if not reply_state.restore(untouched, was, attempts=attempts, why=why):
        raise StaleState(_lazy("Too late: its answer is being written."))
    AuditEvent.objects.record("message.retry_undone", actor=by, subject=message)
