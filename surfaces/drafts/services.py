"""Create drafts and decide on them. All changes before delivery go through this module."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy
from django_q.tasks import async_task

from surfaces.accounts.models.account import Account, ReplyMode
from surfaces.audit.models import AuditEvent
from surfaces.drafts.models import (
    UNDECIDED,
    Draft,
    DraftKind,
    DraftState,
    Feedback,
    RejectionReason,
)
from surfaces.drafts.retry import SEND, check_not_in_doubt, lock_draft, undo_facts
from surfaces.drafts.validation import check_parts, check_target, check_words, checked_note, trimmed
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import MAX_ATTEMPTS, Message
from surfaces.settings import instance
from surfaces.text.reasons import StoredReason, as_reason
from surfaces.text.reasons import note as typed

BY_HAND = "hand"
AT_ONCE = timedelta()


def compose(
    *,
    account: Account,
    what: str,
    target: Message | None = None,
    title: str = "",
    text: str,
    community: str = "",
    by: str,
    now: datetime,
    agent: str = "",
    origin: str = BY_HAND,
    parts: tuple[str, str, str] = ("", "", ""),
    is_begun: bool = False,
    read_at: datetime | None = None,
    because: str | StoredReason = "",
    written_for: str = "",
) -> Draft:
    """Check the text and create a draft. This counts as an attempt.

    `parts` are a voice's terms, pointer and exit. `is_begun`: the attempt was counted when the
    voice was called. `read_at`: when it read the thread; later changes make it stale.
    `written_for`: its cause, for which at most one live draft may exist.
    """
    words = trimmed(text, title, community)
    check_words(account, what, words, is_new=True)
    check_parts(parts)
    check_target(account, what, target)
    who = {"agent": agent, "origin": origin, "made_by": by, "made_at": read_at or now}
    meant = dict(zip(("terms", "pointer", "exit"), parts, strict=True))
    draft = Draft(account=account, what=what, target=target, **words, **meant, **who)
    draft.written_for = written_for
    draft.expires_at = instance.current().drafts_wait_until(now)
    try:
        with transaction.atomic():
            _begin_try(draft, is_begun=is_begun)
            draft.save(force_insert=True)
            AuditEvent.objects.record("draft.composed", actor=by, subject=draft, origin=origin)
            _put_forward(draft, because=because, now=now)
    except IntegrityError as error:
        if "draft_one_live" not in str(error):
            raise
        raise StaleState("draft.answered_by_other") from error
    return draft


def _put_forward(draft: Draft, *, because: str | StoredReason, now: datetime) -> None:
    """Drafts by hand wait for approval; drafts by a voice follow the mode."""
    if draft.origin != BY_HAND and draft.account.mode == ReplyMode.SHADOW:
        # Never approved, so that a later change of the mode cannot send it.
        draft.advance(DraftState.SHADOWED, why="sending.shadowed")
        reply_state.reopen(draft.comment())
        AuditEvent.objects.record("draft.shadowed", actor="mode:shadow", subject=draft)
        return
    draft.advance(DraftState.WAITING, why=because or "draft.waits")
    if draft.origin != BY_HAND and draft.account.mode == ReplyMode.AUTO:
        approve(draft, digest=draft.digest(), by="mode:auto", now=now)


def _begin_try(draft: Draft, *, is_begun: bool) -> None:
    if draft.what != DraftKind.REPLY:
        return
    if is_begun:
        # If an operator reset the attempts meanwhile, this is the first.
        if not reply_state.mark_pending(draft.comment().alive().not_spam()):
            raise NotAllowed("draft.settled_meanwhile")
        return
    if not reply_state.start_attempt(draft.comment()):
        raise NotAllowed("draft.tried_out_twice", most_tries=MAX_ATTEMPTS)


def is_by_hand(draft: Draft) -> bool:
    return draft.origin == BY_HAND


@transaction.atomic
def edit(
    draft: Draft, *, text: str, title: str = "", community: str = "", by: str, now: datetime
) -> None:
    """Change the text: an approved draft waits again. It counts as a look at the context."""
    words = trimmed(text, title, community)
    if draft.state not in {DraftState.WAITING, DraftState.APPROVED}:
        raise NotAllowed(
            _lazy("This draft is %(state)s; only waiting drafts can be edited."),
            state=draft.state_name,
        )
    check_not_in_doubt(draft, now=now)
    check_words(draft.account, draft.what, words)
    before = {"title": draft.title, "text": draft.text, "community": draft.community}
    facts: dict[str, Any] = words | {
        "why": "draft.edited",
        "approved_digest": "",
        "judged": "",
        "was_edited": draft.was_edited or (words != before and not is_by_hand(draft)),
        "stale_why": "",
        "stale_at": None,
    }
    if draft.state == DraftState.APPROVED:
        draft.advance(DraftState.WAITING, **facts)
    else:
        same = Draft.objects.filter(pk=draft.pk, state=draft.state, **before)
        if not same.update(**facts):
            raise StaleState(_lazy("Somebody else changed this draft. Look at it again."))
        for name, value in facts.items():
            setattr(draft, name, value)
    AuditEvent.objects.record("draft.edited", actor=by, subject=draft, before=before)


@transaction.atomic
def approve(
    draft: Draft, *, digest: str, by: str, now: datetime, seen: str = "", delay: timedelta = AT_ONCE
) -> None:
    """Approve exactly this text and target, to be sent after `delay`. `seen`: changes shown."""
    if draft.state not in UNDECIDED:
        # An old page still has the button; it must not resend what may have been sent.
        raise StaleState(
            _lazy("This draft is %(state)s; there is nothing to approve."), state=draft.state_name
        )
    row = lock_draft(draft)
    _check_seen(row, digest, seen)
    anyway = {"anyway": row.stale_why} if row.stale_why else {}
    try:
        draft.advance(
            DraftState.APPROVED,
            approved_digest=digest,
            not_before=now + delay,
            decided_by=by,
            decided_at=now,
            why="",
            judged=_thought_of(draft, by),
        )
    except IntegrityError as error:
        raise StaleState(_lazy("Another reply to this comment is in progress.")) from error
    AuditEvent.objects.record("draft.approved", actor=by, subject=draft, digest=digest, **anyway)
    async_task(SEND)


def _check_seen(row: Draft, digest: str, seen: str) -> None:
    if digest != row.digest():
        raise StaleState(
            _lazy("The words or what they answer changed since you looked. Look again.")
        )
    if row.stale_why and seen != row.stale_why.digest:
        words = _lazy(
            "The thread changed after this draft was written: %(stale_why)s Check it, then approve."
        )
        raise StaleState(words, stale_why=row.stale_why)


def _thought_of(draft: Draft, by: str) -> str:
    """Feedback of an approval by an operator; none if the mode approved."""
    if is_by_hand(draft) or by.startswith("mode:"):
        return ""
    return Feedback.EDITED if draft.was_edited else Feedback.AS_WRITTEN


@transaction.atomic
def withdraw(draft: Draft, *, by: str, now: datetime, why: str = "") -> None:
    """Withdraw before it is sent; the comment is open again, with reset attempts if it failed."""
    check_not_in_doubt(draft, now=now)
    had_failed, rejects = draft.state == DraftState.FAILED, is_rejection(draft, by)
    before = undo_facts(draft)
    facts: dict[str, Any] = {"judged": Feedback.REJECTED} if rejects else {}
    why = why.strip()[:400]
    said = as_reason(why) if why in RejectionReason.values else typed(why)
    facts |= {"decided_by": by, "decided_at": now}
    draft.advance(DraftState.WITHDRAWN, why=said or "draft.withdrawn", **facts)
    reply_state.reopen(draft.comment(), with_fresh_attempts=had_failed)
    action = "draft.rejected" if rejects else "draft.withdrawn"
    AuditEvent.objects.record(action, actor=by, subject=draft, why=said, **before)


def take_back(draft: Draft, *, by: str, now: datetime, why: str) -> None:
    """Withdraw as an operator: a rejection needs a reason."""
    if not why and is_rejection(draft, by):
        raise BadInput(_lazy("Rejecting needs a reason. Choose one or write your own."))
    withdraw(draft, why=why, by=by, now=now)


def is_rejection(draft: Draft, by: str) -> bool:
    """Whether withdrawing by `by` rejects the text; not after a failed delivery."""
    return by.startswith("operator:") and draft.state != DraftState.FAILED and not is_by_hand(draft)


@transaction.atomic
def send_back(draft: Draft, *, note: str, by: str, now: datetime) -> None:
    """Request a new text from the voice, with a note; agents read the audit entry."""
    if is_by_hand(draft):
        raise NotAllowed(_lazy("A person wrote this by hand. Edit or withdraw it instead."))
    if draft.state not in {DraftState.WAITING, DraftState.APPROVED}:
        words = _lazy("This draft is %(state)s; only waiting drafts can be sent back.")
        raise StaleState(words, state=draft.state_name)
    check_not_in_doubt(draft, now=now)
    why, before = typed(checked_note(note)), undo_facts(draft)
    draft.advance(
        DraftState.WITHDRAWN, decided_by=by, decided_at=now, why=why, judged=Feedback.SENT_BACK
    )
    reply_state.reopen(draft.comment())
    AuditEvent.objects.record("draft.sent_back", actor=by, subject=draft, why=why, **before)
