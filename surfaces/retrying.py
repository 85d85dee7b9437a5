"""Try again: a draft that failed, one that was not there, a comment that was given up.

Who asks is a person, and the tries begin anew.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django_q.tasks import async_task

from surfaces.errors import NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message
from surfaces.models.draft import State, What
from surfaces.models.message import MOST_TRIES, Direction, ReplyStatus, SpamStatus
from surfaces.outcomes import begin_try, give_up

SEND = "surfaces.tasks.deliver_due"
FRESH = {"reply_attempts": 0, "reply_status": None, "reply_why": ""}  # open, and nothing tried


def as_it_is(draft: Draft) -> Draft:
    """The row as it is, locked, not as somebody read it."""
    rows = Draft.objects.select_for_update(of=("self",)).select_related("target")
    return rows.get(pk=draft.pk)


def how_it_was(draft: Draft) -> dict[str, Any]:
    """What undo needs to know, for the ledger line of a decision."""
    attempts = draft.comment().values_list("reply_attempts", flat=True).first() or 0
    return {"was": draft.state, "before": draft.why[:400], "attempts": attempts}


@transaction.atomic
def try_again(message: Message, *, by: str, now: datetime) -> None:
    """Give a comment that failed or was passed ten fresh tries."""
    row = (
        Message.objects.select_for_update(of=("self",))
        .defer("raw_json", "search")
        .get(pk=message.pk)
    )
    _check_open(row)
    _check_untouched(row)
    before: dict[str, Any] = {
        "was": row.reply_status,
        "before": row.reply_why,
        "attempts": row.reply_attempts,
    }
    Message.objects.filter(pk=row.pk).update(**FRESH)
    for name, value in FRESH.items():
        setattr(message, name, value)
    AuditEvent.objects.record("message.retried", actor=by, subject=row, **before)


def _check_open(row: Message) -> None:
    """Say what stands against an answer to it, if anything does."""
    if row.is_ours or row.is_post:
        raise NotAllowed("Only comments by others are answered.")
    answers = row.children.filter(direction=Direction.OUTGOING)
    if row.reply_status == ReplyStatus.SENT or answers.exists():
        raise NotAllowed("This comment is answered already.")
    if row.deleted_at:
        raise NotAllowed("This comment was deleted at the source.")
    if row.spam_status == SpamStatus.SPAM:
        raise NotAllowed("This is marked as spam. Unmark it before you try again.")
    if Draft.objects.answering(row).alive().exists():
        raise NotAllowed("An answer to this comment is under way already; see its draft.")


def _check_untouched(row: Message) -> None:
    """Pressed twice, it is said once: whoever passes or fails a comment leaves a mark on it."""
    is_fresh = all(getattr(row, name) == value for name, value in FRESH.items())
    if is_fresh and AuditEvent.objects.about(row).called("message.retried").exists():
        raise NotAllowed("This comment has its fresh tries already, and none was used yet.")


def retry(draft: Draft, *, by: str, now: datetime, delay: timedelta = timedelta()) -> None:
    """Send a failed draft again: an operator gives the comment ten more tries."""
    if draft.state != State.FAILED:
        raise NotAllowed(f"This draft is {draft.state}; only a failed one can be retried.")
    if draft.comment().answered().exists():
        raise NotAllowed("This comment is answered already.")
    try:
        with transaction.atomic():
            before = how_it_was(draft)
            _approve_again(draft, by=by, at=now, not_before=now + delay, why="Retried by a person.")
            draft.comment().update(reply_status=ReplyStatus.PENDING, reply_attempts=1, reply_why="")
            AuditEvent.objects.record("draft.retried", actor=by, subject=draft, **before)
            async_task(SEND)
    except IntegrityError as error:
        raise StaleState("Another answer to this comment is on its way.") from error


def settle_absent(draft: Draft, *, by: str, now: datetime, delay: timedelta = timedelta()) -> None:
    """A person looked and it is not there: send it again."""
    if draft.state != State.UNKNOWN or not draft.needs_person:
        raise StaleState(f"This draft is {draft.state}; there is nothing to settle.")
    with transaction.atomic():
        before = how_it_was(draft) | _doubt(draft)
        AuditEvent.objects.record("draft.settled_absent", actor=by, subject=draft, **before)
        if draft.what == What.REPLY and not begin_try(draft):
            why = f"Tried {MOST_TRIES} times. A person looked: it is not there."
            give_up(draft, why, now=now, permanent=False)
            return
        why = "A person looked: it is not there."
        _approve_again(draft, by=by, at=now, not_before=now + delay, why=why)
        async_task(SEND)


def _doubt(draft: Draft) -> dict[str, Any]:
    asked = draft.asked_at.isoformat() if draft.asked_at else ""
    counted = {"looks": draft.looks, "absences": draft.absences}
    return {"remote_id": draft.remote_id, "asked_at": asked, **counted}


def _approve_again(draft: Draft, *, by: str, at: datetime, not_before: datetime, why: str) -> None:
    draft.advance(
        State.APPROVED,
        approved_digest=as_it_is(draft).digest(),
        not_before=not_before,
        decided_by=by,
        decided_at=at,
        why=why,
        sendings=0,
        looks=0,
        absences=0,
        needs_person=False,
        remote_id="",
        challenge=None,
        asked_at=None,
    )
