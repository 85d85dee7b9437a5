"""Make drafts, decide on them: the only doors a draft goes through before it is sent.

compose ──> waiting ──approve──> approved ──> (delivery)
               │  ^                  │
               │  └──────edit────────┤
               └── withdraw, send back ──> withdrawn; the comment is open again
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django_q.tasks import async_task

from surfaces import house
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.models.account import Mode
from surfaces.models.draft import UNDECIDED, Judged, State, What
from surfaces.models.message import MOST_TRIES, OPEN, ReplyStatus
from surfaces.outcomes import reopen
from surfaces.recording import settle_there
from surfaces.retrying import SEND, as_it_is, how_it_was, retry, settle_absent, try_again
from surfaces.vetting import check_parts, check_target, check_words, checked_note, trimmed

__all__ = [
    "approve",
    "compose",
    "edit",
    "is_by_hand",
    "is_rejection",
    "retry",
    "send_back",
    "settle_absent",
    "settle_there",
    "try_again",
    "withdraw",
]

BY_HAND = "hand"


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
    because: str = "",
) -> Draft:
    """Check the words and put them before a person. Writing one is a try.

    `parts` are a voice's terms, pointer and exit. `is_begun`: the try was counted when the
    voice was asked. `read_at`: when it read the thread; what moved since makes it stale.
    `because`: why there is a draft at all, in a short sentence.
    """
    words = trimmed(text, title, community)
    check_words(account, what, words, is_new=True)
    check_parts(parts)
    check_target(account, what, target)
    who = {"agent": agent, "origin": origin, "made_by": by, "made_at": read_at or now}
    meant = dict(zip(("terms", "pointer", "exit"), parts, strict=True))
    draft = Draft(account=account, what=what, target=target, **words, **meant, **who)
    draft.expires_at = house.current().drafts_wait_until(now)
    try:
        with transaction.atomic():
            _begin_try(draft, is_begun=is_begun)
            draft.save(force_insert=True)
            AuditEvent.objects.record("draft.composed", actor=by, subject=draft, origin=origin)
            _put_forward(draft, because=because, now=now)
    except IntegrityError as error:
        if "draft_one_live_reply" not in str(error):
            raise
        raise StaleState("Somebody is answering this comment already; see its draft.") from error
    return draft


def _put_forward(draft: Draft, *, because: str, now: datetime) -> None:
    """What a person wrote by hand waits for a person; a voice's words go by the mode."""
    if draft.origin != BY_HAND and draft.account.mode == Mode.SHADOW:
        _keep_in_shadow(draft)
        return
    draft.advance(State.WAITING, why=because[:400] or "A person looks at it first.")
    if draft.origin != BY_HAND and draft.account.mode == Mode.AUTO:
        approve(draft, digest=draft.digest(), by="mode:auto", now=now)


def _keep_in_shadow(draft: Draft) -> None:
    """Never approved, so no later change of the mode can send it."""
    draft.advance(State.SHADOWED, why="Shadow: this would have been sent now.")
    reopen(draft)
    AuditEvent.objects.record("draft.shadowed", actor="mode:shadow", subject=draft)


def _begin_try(draft: Draft, *, is_begun: bool) -> None:
    """Count the try with the comment, or say why there is none."""
    if draft.what != What.REPLY:
        return
    facts = {"reply_status": ReplyStatus.PENDING, "reply_why": ""}
    if is_begun:
        open_still = draft.comment().alive().not_spam().filter(OPEN)
        # A person who asked for fresh tries meanwhile gets this one as the first.
        if not open_still.update(reply_attempts=Greatest(F("reply_attempts"), 1), **facts):
            raise NotAllowed("This comment was settled while its answer was being written.")
        return
    untried = draft.comment().filter(reply_attempts__lt=MOST_TRIES)
    if not untried.update(reply_attempts=F("reply_attempts") + 1, **facts):
        raise NotAllowed(
            f"This comment was tried {MOST_TRIES} times. Retry its last draft instead."
        )


def is_by_hand(draft: Draft) -> bool:
    """Written by a person here, not by a voice."""
    return draft.origin == BY_HAND


@transaction.atomic
def edit(
    draft: Draft, *, text: str, title: str = "", community: str = "", by: str, now: datetime
) -> None:
    """Change the words. An approved draft waits again: nobody approved these.

    Who edits has looked, so only what moves from now on makes it stale.
    """
    words = trimmed(text, title, community)
    if draft.state not in {State.WAITING, State.APPROVED}:
        raise NotAllowed(f"This draft is {draft.state}; only waiting words can be edited.")
    check_words(draft.account, draft.what, words)
    before = {"title": draft.title, "text": draft.text, "community": draft.community}
    facts: dict[str, Any] = words | {
        "why": "Edited; waits for a person.",
        "approved_digest": "",
        "judged": "",
        "was_edited": draft.was_edited or (words != before and not is_by_hand(draft)),
        "stale_why": "",
        "stale_at": None,
    }
    if draft.state == State.APPROVED:
        draft.advance(State.WAITING, **facts)
    else:
        _note_unless_changed(draft, before, facts)
    AuditEvent.objects.record("draft.edited", actor=by, subject=draft, before=before)


def _note_unless_changed(draft: Draft, before: dict[str, str], facts: dict[str, Any]) -> None:
    same = Draft.objects.filter(pk=draft.pk, state=draft.state, **before)
    if not same.update(**facts):
        raise StaleState("Somebody else changed this draft. Look at it again.")
    for name, value in facts.items():
        setattr(draft, name, value)


@transaction.atomic
def approve(
    draft: Draft,
    *,
    digest: str,
    by: str,
    now: datetime,
    seen: str = "",
    delay: timedelta = timedelta(),
) -> None:
    """Let exactly these words out, to exactly this target, after `delay`: it can be called back.

    `seen` is what the person was shown of how its surroundings moved.
    """
    if draft.state not in UNDECIDED:
        # A page left open still has its button; what may be out already is not sent again by it.
        raise StaleState(f"This draft is {draft.state}; there is nothing to approve.")
    row = as_it_is(draft)
    _check_seen(row, digest, seen)
    anyway = {"anyway": row.stale_why} if row.stale_why else {}
    try:
        draft.advance(
            State.APPROVED,
            approved_digest=digest,
            not_before=now + delay,
            decided_by=by,
            decided_at=now,
            why="",
            judged=_thought_of(draft, by),
        )
    except IntegrityError as error:
        raise StaleState("Another answer to this comment is on its way.") from error
    AuditEvent.objects.record("draft.approved", actor=by, subject=draft, digest=digest, **anyway)
    async_task(SEND)


def _check_seen(row: Draft, digest: str, seen: str) -> None:
    if digest != row.digest():
        raise StaleState("The words or what they answer changed since you looked. Look again.")
    if row.stale_why and seen != row.stale_why:
        raise StaleState(
            f"What it answers moved on since it was written: {row.stale_why}"
            " Look again, then approve."
        )


def _thought_of(draft: Draft, by: str) -> str:
    """What a person's yes says of a voice's words; a mode's yes says nothing."""
    if is_by_hand(draft) or by.startswith("mode:"):
        return ""
    return Judged.EDITED if draft.was_edited else Judged.AS_WRITTEN


@transaction.atomic
def withdraw(draft: Draft, *, by: str, now: datetime, why: str = "") -> None:
    """Take it back before it is sent; the comment is open again, with fresh tries if it failed.

    Of a voice's words that no person had let out, an operator's no is a rejection.
    """
    had_failed, rejects = draft.state == State.FAILED, is_rejection(draft, by)
    before = how_it_was(draft)
    facts = {"judged": Judged.REJECTED} if rejects else {}
    draft.advance(
        State.WITHDRAWN,
        decided_by=by,
        decided_at=now,
        why=why.strip()[:400] or "Taken back by a person.",
        **facts,
    )
    reopen(draft)
    if had_failed:
        draft.comment().exclude(reply_status=ReplyStatus.SENT).update(reply_attempts=0)
    action = "draft.rejected" if rejects else "draft.withdrawn"
    AuditEvent.objects.record(action, actor=by, subject=draft, why=why, **before)


def is_rejection(draft: Draft, by: str) -> bool:
    """Whether `by` taking it back says no to a voice's words; a failure says nothing of them."""
    return by.startswith("operator:") and draft.state != State.FAILED and not is_by_hand(draft)


@transaction.atomic
def send_back(draft: Draft, *, note: str, by: str, now: datetime) -> None:
    """Ask the voice to write again, with a note; who wakes voices reads the ledger line."""
    if is_by_hand(draft):
        raise NotAllowed("A person wrote this by hand. Edit or withdraw it instead.")
    if draft.state not in {State.WAITING, State.APPROVED}:
        raise StaleState(f"This draft is {draft.state}; only waiting words can be sent back.")
    note, before = checked_note(note), how_it_was(draft)
    draft.advance(State.WITHDRAWN, decided_by=by, decided_at=now, why=note, judged=Judged.SENT_BACK)
    reopen(draft)
    AuditEvent.objects.record("draft.sent_back", actor=by, subject=draft, why=note, **before)
