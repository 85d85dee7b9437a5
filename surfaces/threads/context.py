"""Read the context of a comment: ancestors, siblings, later messages.

One query, however long the thread is.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from surfaces.drafts.models import Draft
from surfaces.messages.models import Message

ABOVE = 6  # answers above the comment; the post comes on top
BESIDE = 4  # the newest under the same parent
SINCE = 4  # by the same author, seen after the draft was written
EXCERPT = 600  # characters of each
NAMED = 4

AROUND = """
WITH RECURSIVE up(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM messages WHERE id = %(target)s
    UNION ALL
    SELECT m.id, m.parent_id, up.depth + 1 FROM messages m JOIN up ON m.id = up.parent_id
    WHERE up.depth < %(above)s
), path AS (
    SELECT id, depth FROM up WHERE id NOT IN (%(target)s, %(post)s)
    UNION ALL SELECT %(post)s, %(above)s + 1 WHERE %(target)s <> %(post)s
), alive AS NOT MATERIALIZED (
    SELECT * FROM messages WHERE post_id = %(post)s AND kind = 'comment' AND deleted_at IS NULL
        AND spam_status IS DISTINCT FROM 'spam' AND id <> %(target)s
), since AS (
    SELECT id FROM alive WHERE %(is_stale)s AND author = %(author)s AND direction = 'incoming'
        AND created_at >= %(written_at)s AND seen_at > %(made_at)s
    ORDER BY created_at DESC, id DESC LIMIT %(since)s
), beside AS (
    SELECT id FROM alive WHERE (parent_id = %(parent)s OR %(is_top)s AND parent_id IS NULL)
        AND id NOT IN (SELECT id FROM path) AND id NOT IN (SELECT id FROM since)
    ORDER BY created_at DESC, id DESC LIMIT %(beside)s
), around AS (
    SELECT id, 'above' AS place, depth FROM path
    UNION ALL SELECT id, 'beside', 0 FROM beside UNION ALL SELECT id, 'since', 0 FROM since
) SELECT m.id, m.author, m.author_is_bot, m.direction, m.kind, m.title, m.created_at,
    m.deleted_at, m.edited_at, left(m.content, %(excerpt)s) AS excerpt, place
FROM around JOIN messages m USING (id) ORDER BY depth DESC, m.created_at, m.id
"""


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """Each oldest first, with an `excerpt` of its words."""

    above: list[Message]
    beside: list[Message]
    since: list[Message]

    @property
    def groups(self) -> list[tuple[str, list[Message]]]:
        all_of_it = [
            (_("Earlier in the thread"), self.above),
            (_("Other replies, newest first"), self.beside),
            (_("By the same author, after this draft was written"), self.since),
        ]
        return [(label, rows) for label, rows in all_of_it if rows]

    @property
    def names(self) -> str:
        """Who speaks above: "our post, quietengine, iris"; empty when nobody does."""
        return ", ".join(dict.fromkeys(_name(row) for row in self.above[:1] + self.above[-NAMED:]))


def of_draft(draft: Draft) -> ThreadContext:
    if draft.target is None:
        return ThreadContext([], [], [])
    return of_message(draft.target, since=draft.made_at if draft.stale_why else None)


def of_message(target: Message, *, since: datetime | None = None) -> ThreadContext:
    """`since`: what its author said after that, too. Beside: under the same parent or the post."""
    places: dict[str, list[Message]] = {"above": [], "beside": [], "since": []}
    given = {
        "target": target.pk, "post": target.post_id, "parent": target.parent_id or target.post_id,
        "is_top": target.parent_id is None, "author": target.author,
        "written_at": target.created_at, "made_at": since or target.created_at,
        "is_stale": since is not None,
        "above": ABOVE, "beside": BESIDE, "since": SINCE, "excerpt": EXCERPT,
    }  # fmt: skip
    for row in Message.objects.raw(AROUND, given):
        places[getattr(row, "place")].append(row)  # noqa: B009 - of the query, not of the model
    return ThreadContext(**places)


def _name(row: Message) -> str:
    author = row.author or _("unknown")
    if not row.is_post:
        return author
    return _("our post") if row.is_ours else _("the post by {author}").format(author=author)
