"""Look over words, and what they answer, before they become a draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import connection

from surfaces.checks import problems, unwritable
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import Account, Draft, Message
from surfaces.models.account import Mode
from surfaces.models.draft import What
from surfaces.models.message import Direction, SpamStatus

REMEMBERED = 50  # of our last texts on an account are compared for repeats
LONGEST_NOTE = 1_000  # characters


def trimmed(text: str, title: str = "", community: str = "") -> dict[str, str]:
    """The words as a draft keeps them."""
    return {
        "title": title.strip(),
        "text": text.replace("\r\n", "\n").strip(),
        "community": community.strip(),
    }


def check_words(
    account: Account, what: str, words: Mapping[str, str], *, is_new: bool = False
) -> None:
    """Refuse what could not be sent; new words must also not repeat our last ones."""
    if what not in What.values:
        raise BadInput(f"A draft is a reply, a comment or a post; {what!r} is none of them.")
    found = problems(
        text=words["text"],
        title=words["title"],
        is_post=what == What.POST,
        traits=account.surface.traits,
    )
    if not found and is_new and _said_before(account, words["text"]):
        found = ["The same words were said by this account already. Say it differently."]
    if found:
        raise BadInput(" ".join(found))


def _said_before(account: Account, text: str) -> bool:
    ours = Message.objects.filter(account=account).outgoing().alive().order_by("-created_at", "-id")
    last = list(ours.values_list("content", flat=True)[:REMEMBERED])
    coming = Draft.objects.filter(account=account).under_way().values_list("text", flat=True)
    return text in {words.strip() for words in [*last, *coming]}


def check_parts(parts: Iterable[str]) -> None:
    """What a voice meant is kept beside its words, so it must be writable too."""
    if found := [problem for part in parts for problem in unwritable(part, "draft's outline")]:
        raise BadInput(found[0])


def checked_note(note: str) -> str:
    """A note to a voice: some words, not too many."""
    note = trimmed(note)["text"]
    if not note:
        raise BadInput("Write a note that says what to change.")
    if len(note) > LONGEST_NOTE:
        raise BadInput(f"The note has {len(note):,} characters. Enter at most {LONGEST_NOTE:,}.")
    if found := unwritable(note, "note"):
        raise BadInput(" ".join(found))
    return note


def check_target(account: Account, what: str, target: Message | None) -> None:
    """Say why this cannot be answered by this account, if it cannot."""
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
