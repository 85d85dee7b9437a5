"""List messages with any filter in bounded time, over a million rows.

A page never counts, never skips and never reads more than it can afford: it walks
at most `WINDOW` rows of the one index that narrows most, from where the last page
ended. If the window ended early, the page says so and links to the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import BooleanField, F, Q, QuerySet, Value
from django.db.models.expressions import Combinable, ExpressionWrapper
from django.db.models.functions import Left

from surfaces.messages.filters import Filters
from surfaces.messages.models import Message
from surfaces.web.pagination import SIZE, Key, Keyset, KeysetPage

MOST_COUNTED = 1_000  # beyond this, "1,000+" says enough
WINDOW = 12_000  # rows looked at for one page
GLANCE = 600  # rows that tell whether words are rare: at most RARE of them fit
RARE = 1
MOST_HITS = 3_000  # of a search in the whole table
EXCERPT = 280
SHOWN = (
    "account__name", "post", "created_at", "kind", "author", "author_is_bot", "direction",
    "title", "submolt", "reply_status", "reply_attempts", "reply_why", "spam_status",
    "spam_score", "spam_reasons", "edited_at", "deleted_at", "comment_count", "thread_read_at",
)  # fmt: skip
NEWEST_FIRST = Keyset(("-created_at", datetime), ("-id", int))
# Conditions that one index answers in order, the narrowest first.
DRIVERS = (
    "author", "is_waiting", "community", "reply_status", "spam_status", "is_ours", "is_post",
    "account",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class MessagePage(KeysetPage[Message]):
    """Messages, newest first."""

    found: int | None = None  # counted on the first page only
    is_more: bool = False  # than `found`
    looked_back_to: datetime | None = None  # the window ended here, before the page was full

    @property
    def found_words(self) -> str:
        return "" if self.found is None else f"{self.found:,}{'+' if self.is_more else ''}"


def list_messages(filters: Filters, given: Mapping[str, str], *, size: int = SIZE) -> MessagePage:
    """Return one page: the newest, or what is older or newer than the key in `given`."""
    if filters.reaches_nothing:
        return MessagePage(rows=[], found=0)
    before, after = NEWEST_FIRST.load(given, "before"), NEWEST_FIRST.load(given, "after")
    key, backwards = before or after, bool(after and not before)
    look = _Look(filters, key, backwards)
    wanted = size + 1 if key else MOST_COUNTED + 1
    end = None
    found = look.places_anywhere(wanted) if look.seems_rare() else None
    if found is None:
        places, count = look.places(size + 1, wanted)
        if count < wanted and not look.is_short and (end := look.window_end()):
            found = look.places_anywhere(wanted)
    if found is not None:
        places, count, end = found, len(found), None
    shown = places[:size]
    if backwards:
        shown.reverse()
    if backwards and not shown and end is None:
        return list_messages(filters, {}, size=size)  # nothing is newer: this is the first page
    return MessagePage(
        rows=rows([pk for _, pk in shown]),
        found=None if key else min(count, MOST_COUNTED),
        is_more=count > MOST_COUNTED or end is not None,
        looked_back_to=end[0] if end and len(places) <= size else None,
        **_links(filters, shown, key, end, backwards, is_full=len(places) > size),
    )


def _links(
    filters: Filters,
    shown: list[Key],
    key: Key | None,
    end: Key | None,
    backwards: bool,
    *,
    is_full: bool,
) -> dict[str, str]:
    """Links to the neighbouring pages."""
    further = end if not is_full else None
    newest = shown[0] if shown else key
    oldest = shown[-1] if shown else key
    newer = older = None
    if backwards:
        older = oldest
        newer = newest if is_full else further
    else:
        newer = newest if key else None
        older = oldest if is_full else further
    return NEWEST_FIRST.links(filters.query(), newer=newer, older=older)


def rows(ids: Sequence[int]) -> list[Message]:
    """Fetch what a page shows of these messages, in this order, and no more."""
    wanted = Message.objects.filter(pk__in=ids).select_related("account").only(*SHOWN)
    found = {
        row.pk: row
        for row in wanted.annotate(
            excerpt=Left("content", EXCERPT),
            thread_title=Left("post__title", EXCERPT),
            thread_start=Left("post__content", EXCERPT),
            judged_by=F("spam_decision__by"),
        )
    }
    return [found[pk] for pk in ids if pk in found]


class _Look:
    """One look through the table, from a key in one direction."""

    def __init__(self, filters: Filters, key: Key | None, backwards: bool) -> None:
        self._filters = filters
        self._key = key
        self._is_backwards = backwards
        self.is_short = False  # the walk is known to end within the window
        rows = NEWEST_FIRST.slice(Message.objects.all(), key, backwards=backwards)
        self._rest = filters.conditions()
        if driver := next((name for name in DRIVERS if name in self._rest), None):
            rows = rows.filter(self._rest.pop(driver))
        self._index: QuerySet[Message] = rows

    def places(self, size: int, most: int) -> tuple[list[Key], int]:
        """Walk the index, a window of it at most: the first that fit, and how many."""
        window = self._index.annotate(fits=_all_of(self._rest)).values("created_at", "id", "fits")[
            :WINDOW
        ]
        sql, given = window.query.sql_with_params()
        way = "ASC" if self._is_backwards else "DESC"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT created_at, id, count(*) OVER () FROM (SELECT created_at, id"  # noqa: S608
                f" FROM ({sql}) AS looked_at WHERE fits ORDER BY created_at {way}, id {way}"
                f" LIMIT %s) AS found ORDER BY created_at {way}, id {way} LIMIT %s",
                [*given, most, size],
            )
            found = cursor.fetchall()
        return [(at, pk) for at, pk, _ in found], found[0][2] if found else 0

    def window_end(self) -> Key | None:
        """The last row the window reached; None if the walk came to the end of the index."""
        if not self._rest:
            return None  # everything fits, so a page that is not full is the end
        last = self._index.values_list("created_at", "id")[:WINDOW]
        sql, given = last.query.sql_with_params()
        way = "DESC" if self._is_backwards else "ASC"  # the end first
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT created_at, id, reached FROM (SELECT *, count(*) OVER () AS reached"  # noqa: S608
                f" FROM ({sql}) AS looked_at) AS counted ORDER BY created_at {way}, id {way}"
                " LIMIT 1",
                given,
            )
            row = cursor.fetchone()
        return row[:2] if row and row[2] >= WINDOW else None

    def seems_rare(self) -> bool:
        """Whether a glance at the first rows finds the words so seldom that an index knows more."""
        if not self._filters.is_indexed:
            return False
        most = min(GLANCE, WINDOW)
        rows = self._index.annotate(fits=_all_of(self._rest)).values("fits")[:most]
        sql, given = rows.query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*), count(*) FILTER (WHERE fits) FROM ({sql}) AS seen",  # noqa: S608
                given,
            )
            seen, hits = cursor.fetchone()
        self.is_short = seen < most
        return not self.is_short and hits <= RARE

    def places_anywhere(self, most: int) -> list[Key] | None:
        """Ask the word index about the whole table; None where the words are not rare enough."""
        if not self._filters.is_indexed:
            return None
        rest = self._filters.conditions()
        hits = Message.objects.filter(rest.pop("words")).annotate(fits=_all_of(rest))
        with transaction.atomic(), connection.cursor() as cursor:
            # The word index or nothing: a planner that hopes for luck would read the table.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL jit = off")
            found = list(hits.values_list("created_at", "id", "fits")[: MOST_HITS + 1])
        if len(found) > MOST_HITS:
            return None
        return self._in_order([(at, pk) for at, pk, fits in found if fits])[:most]

    def _in_order(self, places: list[Key]) -> list[Key]:
        """Newest first, or oldest first when walking backwards, beyond the key only."""
        start = self._key
        if start and self._is_backwards:
            places = [place for place in places if place > start]
        elif start:
            places = [place for place in places if place < start]
        return sorted(places, reverse=not self._is_backwards)


def _all_of(conditions: Mapping[str, Q]) -> Combinable:
    if not conditions:
        return Value(True, output_field=BooleanField())
    return ExpressionWrapper(Q(*conditions.values()), output_field=BooleanField())
