"""Validate text and target before a draft is created."""

from collections.abc import Iterable, Mapping

from django.db import connection

from surfaces.accounts.models.account import Account, ReplyMode
from surfaces.drafts.models import Draft, DraftKind
from surfaces.drafts.text_checks import find_text_problems, unwritable
from surfaces.errors import BadInput, NotAllowed
from surfaces.messages.models import Direction, Message, SpamStatus
from surfaces.text.reasons import as_reason, reason, several

REMEMBERED = 50  # latest texts of an account that are compared for repeats
LONGEST_NOTE = 1_000  # characters


def trimmed(text: str, title: str = "", community: str = "") -> dict[str, str]:
    text = text.replace("\r\n", "\n").strip()
    return {"title": title.strip(), "text": text, "community": community.strip()}


def check_words(
    account: Account, what: str, words: Mapping[str, str], *, is_new: bool = False
) -> None:
    """Refuse text that cannot be sent, and new text that repeats our latest."""
    if what not in DraftKind.values:
        raise BadInput(reason("draft.no_such_kind", what=repr(what)))
    found = find_text_problems(
        text=words["text"],
        title=words["title"],
        is_post=what == DraftKind.POST,
        traits=account.surface.traits,
    )
    if not found and is_new:
        ours = Message.objects.filter(account=account).outgoing().alive()
        last = ours.order_by("-created_at", "-id").values_list("content", flat=True)[:REMEMBERED]
        coming = Draft.objects.filter(account=account).under_way().values_list("text", flat=True)
        if words["text"] in {(said or "").strip() for said in [*last, *coming]}:
            found = [as_reason("text.repeated")]
    if found:
        raise BadInput(several(found))


def check_parts(parts: Iterable[str]) -> None:
    if found := [problem for part in parts for problem in unwritable(part, "part.outline")]:
        raise BadInput(found[0])


def checked_note(note: str) -> str:
    """A note to a voice: not empty, not too long."""
    note = trimmed(note)["text"]
    if not note:
        raise BadInput("text.no_note")
    if len(note) > LONGEST_NOTE:
        raise BadInput(reason("text.note_too_long", note=len(note), longest_note=LONGEST_NOTE))
    if found := unwritable(note, "part.note"):
        raise BadInput(several(found))
    return note


def check_target(account: Account, what: str, target: Message | None) -> None:
    if what == DraftKind.POST:
        if account.mode == ReplyMode.OFF:
            raise NotAllowed(reason("target.account_off", name=account.name))
        return
    if target is None or target.account_id != account.pk:
        raise BadInput("target.not_chosen")
    if (what == DraftKind.REPLY) == target.is_post:
        raise BadInput("target.wrong_kind")
    if target.deleted_at:
        raise NotAllowed("target.deleted")
    if target.spam_status == SpamStatus.SPAM:
        raise NotAllowed("target.spam")
    if what == DraftKind.REPLY and target.children.filter(direction=Direction.OUTGOING).exists():
        raise NotAllowed("target.answered")
    deepest = account.surface.traits.max_depth
    if deepest is not None and what == DraftKind.REPLY and reply_depth(target) >= deepest:
        raise NotAllowed("target.too_deep")


DEPTH = """
WITH RECURSIVE up(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM messages WHERE id = %s
    UNION ALL
    SELECT m.id, m.parent_id, up.depth + 1 FROM messages m JOIN up ON m.id = up.parent_id
    WHERE up.depth < 100
) SELECT max(depth) FROM up
"""


def reply_depth(comment: Message) -> int:
    with connection.cursor() as cursor:
        cursor.execute(DEPTH, [comment.pk])
        return int(cursor.fetchone()[0] or 0)
