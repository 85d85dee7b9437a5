"""Apply an operator's decision on a comment, train the filter, and undo both."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import Draft, DraftState
from surfaces.drafts.undo import last_decision, restore_withdrawn
from surfaces.errors import NotAllowed
from surfaces.messages import reply_state
from surfaces.messages.models import Direction, Message, ReplyStatus, SpamStatus
from surfaces.spam import tokenizer
from surfaces.spam.classify import ALL_MESSAGES
from surfaces.spam.models import SpamDecision, SpamToken

SPAM_WHY = "message.marked_spam"  # why its drafts were withdrawn


@transaction.atomic
def mark(message: Message, *, is_spam: bool, by: str, now: datetime) -> None:
    """Mark as spam or clean: overrides the filter, trains it; spam withdraws drafts."""
    row = _locked(message)
    _forget(row)
    learnt = list(tokenizer.tokens_to_learn(row.content))
    SpamDecision.objects.create(
        message=row, is_spam=is_spam, tokens=learnt,
        filter_status=row.spam_status or "",  # through any number of changes of mind
        filter_score=row.spam_score,
        signs=sorted({str(reason[0]) for reason in row.spam_reasons if reason}), by=by, at=now,
    )  # fmt: skip
    _count(learnt, is_spam=is_spam, step=1)
    status = SpamStatus.SPAM if is_spam else SpamStatus.CLEAN
    _set_status(message, status)
    if is_spam:
        _withdraw_drafts(row, by=by, now=now)
    AuditEvent.objects.record(f"message.marked_{status}", actor=by, subject=row)


@transaction.atomic
def unmark(message: Message, *, by: str, now: datetime) -> None:
    """Take an operator's verdict back; the draft that was withdrawn with it waits again."""
    row = _locked(message)
    decision = _forget(row)
    if decision is None:
        raise NotAllowed(_lazy("Nobody marked this comment, so there is nothing to undo."))
    _set_status(message, row.spam_status)
    AuditEvent.objects.record("message.unmarked", actor=by, subject=row)
    if message.spam_status == SpamStatus.SPAM or Draft.objects.answering(message).alive().exists():
        return
    fell = Draft.objects.answering(message).filter(state=DraftState.WITHDRAWN, why=SPAM_WHY)
    if draft := fell.filter(decided_at=decision.at).order_by("-id").first():
        event = last_decision(draft)
        restore_withdrawn(draft, event.facts if event else {})
        AuditEvent.objects.record("draft.taken_back", actor=by, subject=draft, undid="message.spam")


def _locked(message: Message) -> Message:
    row = Message.objects.select_for_update(of=("self",)).defer("search").get(pk=message.pk)
    if row.direction == Direction.OUTGOING:
        raise NotAllowed(
            _lazy("One of our accounts wrote this. Only comments by others can be marked.")
        )
    return row


def _set_status(message: Message, status: str | None) -> None:
    Message.objects.filter(pk=message.pk).update(spam_status=status)
    message.spam_status = status


def _forget(row: Message) -> SpamDecision | None:
    """Unlearn the standing decision, if any, and put the filter's verdict back on `row`."""
    decision = SpamDecision.objects.filter(message=row).first()
    if decision is None:
        return None
    _count(decision.tokens, is_spam=decision.is_spam, step=-1)
    decision.delete()
    row.spam_status = decision.filter_status or None
    return decision


def _count(tokens: Sequence[str], *, is_spam: bool, step: int) -> None:
    column = "in_spam" if is_spam else "in_clean"
    # Sorted: two operators at once lock the rows in the same order.
    names = sorted({*tokens, ALL_MESSAGES})
    with connection.cursor() as cursor:
        if step > 0:
            cursor.execute(
                f"INSERT INTO surfaces_spamtoken AS t (token, in_spam, in_clean)"  # noqa: S608
                f" SELECT name, %s, %s FROM unnest(%s::text[]) name"
                f" ON CONFLICT (token) DO UPDATE SET {column} = t.{column} + 1",
                [int(is_spam), int(not is_spam), names],
            )
        else:
            cursor.execute(
                f"UPDATE surfaces_spamtoken SET {column} = {column} - 1"  # noqa: S608
                " WHERE token IN (SELECT token FROM surfaces_spamtoken"
                " WHERE token = ANY(%s::text[]) ORDER BY token FOR UPDATE)",
                [names],
            )
            unsaid = SpamToken.objects.filter(token__in=names, in_spam=0, in_clean=0)
            unsaid.filter(is_forgotten=False).delete()


def _withdraw_drafts(row: Message, *, by: str, now: datetime) -> None:
    movable = [DraftState.COMPOSED, DraftState.WAITING, DraftState.APPROVED, DraftState.FAILED]
    for draft in Draft.objects.answering(row).filter(state__in=movable).select_for_update():
        before = {"was": draft.state, "before": draft.why, "attempts": row.reply_attempts}
        draft.advance(DraftState.WITHDRAWN, decided_by=by, decided_at=now, why=SPAM_WHY)
        AuditEvent.objects.record(
            "draft.withdrawn", actor=by, subject=draft, why="message.marked_spam", **before
        )
        # Unmarked, it must be as open as any: nothing else is left that could be retried.
        failed = Message.objects.filter(pk=row.pk, reply_status=ReplyStatus.FAILED)
        reply_state.reopen(failed, with_fresh_attempts=True)
