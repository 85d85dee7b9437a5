"""Make drafts, decide on them: the only doors a draft goes through before it is sent.

compose ──> waiting ──approve──> approved ──> (delivery)
               │  ^                  │
            withdraw └────edit───────┘
"""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django_q.tasks import async_task

from surfaces.checks import problems
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.models.account import Mode
from surfaces.models.draft import UNDECIDED, State, What
from surfaces.models.message import MOST_TRIES, Direction, ReplyStatus, SpamStatus
from surfaces.outcomes import begin_try, give_up, reopen
from surfaces.recording import settle_there

__all__ = ["approve", "compose", "edit", "retry", "settle_absent", "settle_there", "withdraw"]

SEND = "surfaces.tasks.deliver_due"
BY_HAND = "hand"
REMEMBERED = 50  # of our last texts on an account are compared for repeats


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
) -> Draft:
    """Check the words and put them before a person. Writing one is a try."""
    words = {"title": title.strip(), "text": _trimmed(text), "community": community.strip()}
    _check_words(account, what, words)
    _check_target(account, what, target)
    draft = Draft(
        account=account,
        what=what,
        target=target,
        agent=agent,
        origin=origin,
        made_by=by,
        made_at=now,
        **words,
    )
    try:
        with transaction.atomic():
            _begin_try(draft)
            draft.save(force_insert=True)
            AuditEvent.objects.record("draft.composed", actor=by, subject=draft, origin=origin)
            _put_forward(draft, now=now)
    except IntegrityError as error:
        if "draft_one_live_reply" not in str(error):
            raise
        raise StaleState("Somebody is answering this comment already; see its draft.") from error
    return draft


def _put_forward(draft: Draft, *, now: datetime) -> None:
    """What a person wrote by hand waits for a person; a voice's words go by the mode."""
    draft.advance(State.WAITING, why="A person looks at it first.")
    if draft.origin != BY_HAND and draft.account.mode == Mode.AUTO:
        approve(draft, digest=draft.digest(), by="mode:auto", now=now)


def _trimmed(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _check_words(account: Account, what: str, words: dict[str, str]) -> None:
    if what not in What.values:
        raise BadInput(f"A draft is a reply, a comment or a post; {what!r} is none of them.")
    found = problems(
        text=words["text"],
        title=words["title"],
        is_post=what == What.POST,
        traits=account.surface.traits,
    )
    if not found and _said_before(account, words["text"]):
        found = ["The same words were said by this account already. Say it differently."]
    if found:
        raise BadInput(" ".join(found))


def _said_before(account: Account, text: str) -> bool:
    ours = Message.objects.filter(account=account).outgoing().alive().order_by("-created_at", "-id")
    last = list(ours.values_list("content", flat=True)[:REMEMBERED])
    coming = Draft.objects.filter(account=account).under_way().values_list("text", flat=True)
    return text in {words.strip() for words in [*last, *coming]}


def _check_target(account: Account, what: str, target: Message | None) -> None:
    if what == What.POST:
        if account.mode == Mode.OFF:
            raise NotAllowed(f"{account.name} is off. Set another mode first.")
        return
    if target is None or target.account_id != account.pk:
        raise BadInput("Choose a message of this account to answer.")
    if (what == What.REPLY) == target.is_post:
        raise BadInput("A reply answers a comment; a comment answers a post.")
    if target.deleted_at:
        raise NotAllowed("What you want to answer was deleted at the source.")
    if target.spam_status == SpamStatus.SPAM:
        raise NotAllowed("This is marked as spam. Unmark it before you answer it.")
    if what == What.REPLY and target.children.filter(direction=Direction.OUTGOING).exists():
        raise NotAllowed("This comment is answered already.")
    deepest = account.surface.traits.max_depth
    if deepest is not None and what == What.REPLY and depth_of(target) >= deepest:
        raise NotAllowed("This comment is too deep for a reply here. Answer one above it.")


DEPTH = """
WITH RECURSIVE up(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM messages WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, up.depth + 1 FROM messages m JOIN up ON m.id = up.parent_id
    WHERE up.depth < 100
) SELECT max(depth) FROM up
"""


def depth_of(comment: Message) -> int:
    """How deep a comment stands; directly under the post is 0."""
    with connection.cursor() as cursor:
        cursor.execute(DEPTH, [comment.pk])
        return int(cursor.fetchone()[0] or 0)


def _begin_try(draft: Draft) -> None:
    """Count the try with the comment, or say that there were enough."""
    if draft.what != What.REPLY:
        return
    open_still = draft.comment().filter(reply_attempts__lt=MOST_TRIES)
    if not open_still.update(
        reply_attempts=F("reply_attempts") + 1, reply_status=ReplyStatus.PENDING, reply_why=""
    ):
        raise NotAllowed(
            f"This comment was tried {MOST_TRIES} times. Retry its last draft instead."
        )


@transaction.atomic
def edit(
    draft: Draft, *, text: str, title: str = "", community: str = "", by: str, now: datetime
) -> None:
    """Change the words. An approved draft waits again: nobody approved these."""
    words = {"title": title.strip(), "text": _trimmed(text), "community": community.strip()}
    if draft.state not in {State.WAITING, State.APPROVED}:
        raise NotAllowed(f"This draft is {draft.state}; only waiting words can be edited.")
    found = problems(
        text=words["text"],
        title=words["title"],
        is_post=draft.what == What.POST,
        traits=draft.account.surface.traits,
    )
    if found:
        raise BadInput(" ".join(found))
    before = {"title": draft.title, "text": draft.text, "community": draft.community}
    facts = words | {"why": "Edited; waits for a person.", "approved_digest": ""}
    if draft.state == State.APPROVED:
        draft.advance(State.WAITING, **facts)
    else:
        _note_unless_changed(draft, before, facts)
    AuditEvent.objects.record("draft.edited", actor=by, subject=draft, before=before)


def _note_unless_changed(draft: Draft, before: dict[str, str], facts: dict[str, str]) -> None:
    same = Draft.objects.filter(pk=draft.pk, state=draft.state, **before)
    if not same.update(**facts):
        raise StaleState("Somebody else changed this draft. Look at it again.")
    for name, value in facts.items():
        setattr(draft, name, value)


@transaction.atomic
def approve(draft: Draft, *, digest: str, by: str, now: datetime) -> None:
    """Let exactly these words out, to exactly this target; sending starts at once."""
    if draft.state not in UNDECIDED:
        # A page left open still has its button; what may be out already is not sent again by it.
        raise StaleState(f"This draft is {draft.state}; there is nothing to approve.")
    if digest != _digest_now(draft):
        raise StaleState("The words or what they answer changed since you looked. Look again.")
    try:
        draft.advance(
            State.APPROVED,
            approved_digest=digest,
            not_before=now,
            decided_by=by,
            decided_at=now,
            why="",
        )
    except IntegrityError as error:
        raise StaleState("Another answer to this comment is on its way.") from error
    AuditEvent.objects.record("draft.approved", actor=by, subject=draft, digest=digest)
    async_task(SEND)


def _digest_now(draft: Draft) -> str:
    """The digest of the row as it is, locked, not as somebody read it."""
    row = Draft.objects.select_for_update(of=("self",)).select_related("target").get(pk=draft.pk)
    return row.digest()


@transaction.atomic
def withdraw(draft: Draft, *, by: str, now: datetime, why: str = "") -> None:
    """Take it back before it is sent; the comment is open again, with fresh tries if it failed."""
    had_failed = draft.state == State.FAILED
    draft.advance(
        State.WITHDRAWN,
        decided_by=by,
        decided_at=now,
        why=why.strip()[:400] or "Taken back by a person.",
    )
    reopen(draft)
    if had_failed:
        draft.comment().exclude(reply_status=ReplyStatus.SENT).update(reply_attempts=0)
    AuditEvent.objects.record("draft.withdrawn", actor=by, subject=draft, why=why)


def retry(draft: Draft, *, by: str, now: datetime) -> None:
    """Send a failed draft again: an operator gives the comment ten more tries."""
    if draft.state != State.FAILED:
        raise NotAllowed(f"This draft is {draft.state}; only a failed one can be retried.")
    try:
        with transaction.atomic():
            _approve_again(draft, by=by, now=now, why="Retried by a person.")
            draft.comment().update(reply_status=ReplyStatus.PENDING, reply_attempts=1, reply_why="")
            AuditEvent.objects.record("draft.retried", actor=by, subject=draft)
            async_task(SEND)
    except IntegrityError as error:
        raise StaleState("Another answer to this comment is on its way.") from error


def _approve_again(draft: Draft, *, by: str, now: datetime, why: str) -> None:
    draft.advance(
        State.APPROVED,
        approved_digest=_digest_now(draft),
        not_before=now,
        decided_by=by,
        decided_at=now,
        why=why,
        sendings=0,
        looks=0,
        absences=0,
        needs_person=False,
        remote_id="",
        challenge=None,
        asked_at=None,
    )


def settle_absent(draft: Draft, *, by: str, now: datetime) -> None:
    """A person looked and it is not there: send it again."""
    if draft.state != State.UNKNOWN or not draft.needs_person:
        raise StaleState(f"This draft is {draft.state}; there is nothing to settle.")
    with transaction.atomic():
        AuditEvent.objects.record("draft.settled_absent", actor=by, subject=draft)
        if draft.what == What.REPLY and not begin_try(draft):
            why = f"Tried {MOST_TRIES} times. A person looked: it is not there."
            give_up(draft, why, now=now, permanent=False)
            return
        _approve_again(draft, by=by, now=now, why="A person looked: it is not there.")
        async_task(SEND)
