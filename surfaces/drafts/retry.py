"""Retry failed drafts, undelivered drafts and failed comments: operators only, attempts reset."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy
from django_q.tasks import async_task

from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft, DraftState
from surfaces.errors import NotAllowed, StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import Direction, Message, ReplyStatus, SpamStatus
from surfaces.text.reasons import StoredReason, reason

SEND = "surfaces.tasks.deliver_due"


def lock_draft(draft: Draft) -> Draft:
    rows = Draft.objects.select_for_update(of=("self",)).select_related("target")
    return rows.get(pk=draft.pk)


def check_not_in_doubt(draft: Draft, *, now: datetime) -> None:
    """Refuse what would let another text be sent while a request with this one may be stored."""
    if draft.repeat_from and now < draft.repeat_from:
        raise NotAllowed(
            _lazy(
                "The service may still store a request with this text until %(at)s. "
                "Wait until then."
            ),
            at=draft.repeat_from,
        )


def undo_facts(draft: Draft) -> dict[str, Any]:
    attempts = draft.comment().values_list("reply_attempts", flat=True).first() or 0
    return {"was": draft.state, "before": draft.why, "attempts": attempts}


@transaction.atomic
def retry_message(message: Message, *, by: str, now: datetime) -> None:
    rows = Message.objects.select_for_update(of=("self",)).defer("raw_json", "search")
    row = rows.get(pk=message.pk)
    if row.is_ours or (row.is_post and not row.reply_attempts):  # a post that an agent tried
        raise NotAllowed(_lazy("Only comments by others can be replied to."))
    answers = row.children.filter(direction=Direction.OUTGOING)
    if row.reply_status == ReplyStatus.SENT or answers.exists():
        raise NotAllowed(_lazy("This comment already has a reply."))
    if row.deleted_at:
        raise NotAllowed(_lazy("This comment was deleted on the surface."))
    if row.spam_status == SpamStatus.SPAM:
        raise NotAllowed(_lazy("This comment is marked as spam. Unmark it before you retry."))
    if Draft.objects.answering(row).alive().exists():
        raise NotAllowed(_lazy("A reply to this comment is already in progress. Open its draft."))
    for draft in Draft.objects.answering(row).select_related("account__surface"):
        check_not_in_doubt(draft, now=now)
    # A second press is refused: passing or failing a comment leaves a mark on it.
    is_fresh = all(getattr(row, name) == value for name, value in reply_state.UNTRIED.items())
    if is_fresh and AuditEvent.objects.about(row).called("message.retried").exists():
        raise NotAllowed(
            _lazy("The attempts of this comment were reset already, and none has been used yet.")
        )
    before = {"was": row.reply_status, "before": row.reply_why, "attempts": row.reply_attempts}
    reply_state.restore(Message.objects.filter(pk=row.pk), None)
    message.refresh_from_db(fields=list(reply_state.UNTRIED))
    AuditEvent.objects.record("message.retried", actor=by, subject=row, **before)


def retry_draft(draft: Draft, *, by: str, now: datetime, delay: timedelta = timedelta()) -> None:
    if draft.state != DraftState.FAILED:
        words = _lazy("This draft is %(state)s; only a failed one can be retried.")
        raise NotAllowed(words, state=draft.state_name)
    if draft.comment().answered().exists():
        raise NotAllowed(_lazy("This comment already has a reply."))
    try:
        with transaction.atomic():
            before = undo_facts(draft)
            _approve_again(draft, by=by, at=now, not_before=now + delay, why="draft.retried")
            reply_state.restore(draft.comment(), ReplyStatus.PENDING, attempts=1)
            AuditEvent.objects.record("draft.retried", actor=by, subject=draft, **before)
            async_task(SEND)
    except IntegrityError as error:
        raise StaleState(_lazy("Another reply to this comment is in progress.")) from error


def _approve_again(
    draft: Draft, *, by: str, at: datetime, not_before: datetime, why: str,
    settled_absent: bool = False,
) -> None:  # fmt: skip
    """Approve to be sent again; what may have been stored already is searched for first."""
    said: StoredReason | str = why
    if draft.repeat_from and draft.repeat_from > not_before:
        not_before, delay = draft.repeat_from, draft.account.surface.longest_delay_seconds
        said = reason(f"{why}_waits", delay=timedelta(seconds=delay), at=not_before)
    draft.advance(
        DraftState.APPROVED,
        approved_digest=lock_draft(draft).digest(), not_before=not_before,
        decided_by=by, decided_at=at, why=said, needs_person=False, settled_absent=settled_absent,
        sendings=0, looks=0, absences=0, remote_id="", challenge=None, asked_at=None,
    )  # fmt: skip
