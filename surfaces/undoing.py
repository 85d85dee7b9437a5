"""Take a decision on a draft back, as long as the world allows it.

    approved ──> waiting        withdrawn, rejected, sent back ──> what it was
    retried  ──> failed         settled as absent              ──> unknown

The ledger says what was decided last and how things stood before; nothing else is undone by it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from surfaces import judging
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import AuditEvent, Draft, Message, SpamDecision
from surfaces.models.draft import State, What
from surfaces.models.message import OPEN, ReplyStatus, SpamStatus
from surfaces.retrying import as_it_is

LATEST = timedelta(minutes=10)  # after that a comment may have been thought about anew
GONE = {State.SENDING: "is leaving at this moment", State.SENT: "was sent"}
UNDECIDED = {"decided_by": "", "decided_at": None, "judged": "", "approved_digest": ""}


@transaction.atomic
def bring_back(draft: Draft, *, by: str, now: datetime) -> None:
    """Undo the last decision on `draft`, or say why that cannot be."""
    row = as_it_is(draft)
    line = _last_decision(row)
    take = TAKES.get(line.action) if line else None
    if line is None or take is None:
        raise NotAllowed("There is no decision on this draft that could be taken back.")
    _check_time(row, line, now)
    try:
        with transaction.atomic():
            take(row, line.facts)
    except IntegrityError as error:
        raise StaleState("Another answer to this comment is under way already.") from error
    AuditEvent.objects.record("draft.taken_back", actor=by, subject=row, undid=line.action)
    draft.refresh_from_db()


def _last_decision(row: Draft) -> AuditEvent | None:
    told = AuditEvent.objects.about(row).filter(action__in=[*TAKES, "draft.taken_back"])
    return told.order_by("-id").first()


def _check_time(row: Draft, line: AuditEvent, now: datetime) -> None:
    if row.state in GONE:
        raise StaleState(f"Too late: this draft {GONE[State(row.state)]}.")
    if row.state == State.WITHDRAWN and now - line.at > LATEST:
        raise StaleState("Too late: this was decided over 10 min ago. Write a new answer instead.")


def _unapprove(row: Draft, facts: dict[str, Any]) -> None:
    row.advance(State.WAITING, why="Its approval was taken back.", not_before=None, **UNDECIDED)


def _unwithdraw(row: Draft, facts: dict[str, Any]) -> None:
    """Alive again, and its comment is being answered again."""
    had_failed = facts.get("was") == State.FAILED
    reopened: dict[str, Any] = {
        "reply_status": ReplyStatus.FAILED if had_failed else ReplyStatus.PENDING
    }
    if had_failed:
        reopened |= {"reply_attempts": facts.get("attempts", 0), "reply_why": row.why}
    open_still = row.comment().alive().not_spam().filter(OPEN)
    if row.what == What.REPLY and not open_still.update(**reopened):
        raise StaleState("What it answers was settled meanwhile.")
    why = facts.get("before") or "Taken up again by a person."
    row.advance(State.FAILED if had_failed else State.WAITING, why=why, **UNDECIDED)


def _unretry(row: Draft, facts: dict[str, Any]) -> None:
    row.advance(State.FAILED, why=facts.get("before") or "Its retry was taken back.", **UNDECIDED)
    attempts = facts.get("attempts", 0)
    row.comment().update(
        reply_status=ReplyStatus.FAILED, reply_attempts=attempts, reply_why=row.why
    )


def _unsettle(row: Draft, facts: dict[str, Any]) -> None:
    kept: dict[str, Any] = {
        name: facts[name] for name in ("remote_id", "looks", "absences") if name in facts
    }
    asked = facts.get("asked_at")
    kept["asked_at"] = datetime.fromisoformat(asked) if asked else None
    why = facts.get("before") or "Nobody knows whether it was sent."
    row.advance(State.UNKNOWN, needs_person=True, why=why, **UNDECIDED, **kept)


TAKES: dict[str, Callable[[Draft, dict[str, Any]], None]] = {
    "draft.approved": _unapprove,
    "draft.withdrawn": _unwithdraw,
    "draft.rejected": _unwithdraw,
    "draft.sent_back": _unwithdraw,
    "draft.retried": _unretry,
    "draft.settled_absent": _unsettle,
}


@transaction.atomic
def undo_edit(draft: Draft, *, by: str, now: datetime) -> None:
    """Put back the words that stood before the last edit, if nothing happened since."""
    row = as_it_is(draft)
    line = AuditEvent.objects.about(row).order_by("-id").first()
    if line is None or line.action != "draft.edited" or row.state != State.WAITING:
        raise StaleState("Something happened to this draft since that edit. Look at it again.")
    row.note(**line.facts["before"])
    AuditEvent.objects.record("draft.edit_undone", actor=by, subject=row)
    draft.refresh_from_db()


@transaction.atomic
def give_no_tries(message: Message, *, by: str, now: datetime) -> None:
    """Take fresh tries back from a comment that nobody began to answer."""
    line = AuditEvent.objects.about(message).called("message.retried").order_by("-id").first()
    untouched = Message.objects.filter(pk=message.pk, reply_status=None, reply_attempts=0)
    if line is None or "attempts" not in line.facts:
        raise NotAllowed("This comment was given no fresh tries.")
    before = {"reply_attempts": line.facts["attempts"], "reply_why": line.facts["before"]}
    if not untouched.update(reply_status=line.facts["was"], **before):
        raise StaleState("Too late: its answer is being written.")
    AuditEvent.objects.record("message.retry_undone", actor=by, subject=message)


@transaction.atomic
def unmark(message: Message, *, by: str, now: datetime) -> None:
    """Take an operator's word on a comment back; the draft that fell with it waits again."""
    marked = SpamDecision.objects.filter(message=message).values_list("at", flat=True).first()
    judging.unmark(message, by=by, now=now)
    if message.spam_status == SpamStatus.SPAM or _is_answered(message):
        return
    fell = Draft.objects.answering(message).filter(state=State.WITHDRAWN, why=judging.SPAM_WHY)
    if draft := fell.filter(decided_at=marked).order_by("-id").first():
        line = _last_decision(draft)
        _unwithdraw(draft, line.facts if line else {})
        AuditEvent.objects.record("draft.taken_back", actor=by, subject=draft, undid="message.spam")


def _is_answered(message: Message) -> bool:
    return Draft.objects.answering(message).alive().exists()
