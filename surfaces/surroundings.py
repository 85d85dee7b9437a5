"""Read what stands around a comment that a draft answers: above it, beside it, since then.

Three queries at most, however long the thread is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from surfaces.models import Draft, Message
from surfaces.models.message import Direction

ABOVE = 6  # answers above the comment; the post comes on top
BESIDE = 4  # the newest under the same parent
SINCE = 4  # by the same author, seen after the draft was written
EXCERPT = 600  # characters of each
NAMED = 4

PATH = """
WITH RECURSIVE up(id, parent_id, depth) AS (
    SELECT id, parent_id, 0 FROM messages WHERE id = %(target)s
    UNION ALL
    SELECT m.id, m.parent_id, up.depth + 1 FROM messages m JOIN up ON m.id = up.parent_id
    WHERE up.depth < %(above)s
), path AS (
    SELECT id, depth FROM up WHERE id NOT IN (%(target)s, %(post)s)
    UNION ALL SELECT %(post)s, %(above)s + 1
) SELECT m.id, m.author, m.author_is_bot, m.direction, m.kind, m.title, m.created_at,
    m.deleted_at, m.edited_at, left(m.content, %(excerpt)s) AS excerpt
FROM path JOIN messages m USING (id) ORDER BY path.depth DESC
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Each oldest first, with an `excerpt` of its words."""

    above: list[Message]
    beside: list[Message]
    since: list[Message]

    @property
    def groups(self) -> list[tuple[str, list[Message]]]:
        """What there is, under its heading."""
        all_of_it = [
            ("Above it", self.above),
            ("Beside it, the newest", self.beside),
            ("By the same author, since this was written", self.since),
        ]
        return [(label, rows) for label, rows in all_of_it if rows]

    @property
    def names(self) -> str:
        """Who speaks above: "our post, quietengine, iris"; empty when nobody does."""
        return ", ".join(dict.fromkeys(_name(row) for row in self.above[:1] + self.above[-NAMED:]))


def of_draft(draft: Draft) -> Surroundings:
    target = draft.target
    if target is None:
        return Surroundings([], [], [])
    above = [] if target.is_post else list(_path(target))
    since = list(_by_them_since(draft, target)) if draft.stale_why else []
    beside = list(_beside(target, [row.pk for row in [*above, *since]]))
    return Surroundings(above, beside[::-1], since[::-1])


def _path(target: Message) -> Iterable[Message]:
    given = {"target": target.pk, "post": target.post_id, "above": ABOVE, "excerpt": EXCERPT}
    return Message.objects.raw(PATH, given)


def _beside(target: Message, shown: list[int]) -> QuerySet[Message]:
    """The newest answers to what the comment answers; to a post, the newest answers to it."""
    rows = Message.objects.filter(post=target.post_id).comments().not_spam().alive()
    if target.parent_id is None:
        rows = rows.filter(Q(parent=None) | Q(parent=target.post_id))
    else:
        rows = rows.filter(parent=target.parent_id)
    return _shown(rows.exclude(pk__in=[target.pk, *shown]))[:BESIDE]


def _by_them_since(draft: Draft, target: Message) -> QuerySet[Message]:
    rows = Message.objects.filter(
        post=target.post_id,
        author=target.author,
        created_at__gte=target.created_at,
        seen_at__gt=draft.made_at,
        direction=Direction.INCOMING,
    )
    return _shown(rows.comments().not_spam().alive().exclude(pk=target.pk))[:SINCE]


def _shown(rows: QuerySet[Message]) -> QuerySet[Message]:
    rows = rows.defer("raw_json", "search", "content").annotate(excerpt=Left("content", EXCERPT))
    return rows.order_by("-created_at", "-id")


def _name(row: Message) -> str:
    if row.is_post:
        return "our post" if row.is_ours else f"the post by {row.author or 'unknown'}"
    return row.author or "unknown"
