"""List messages, any filter, any page, in the same short time over a million rows.

A page never counts, never skips and never reads more than it can afford: it walks
at most `WINDOW` rows of the one index that narrows most, from where the last page
ended. What the window did not reach is said, and looking further is a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.db import connection, transaction
from django.db.models import BooleanField, Count, F, Func, Q, QuerySet, Value
from django.db.models.expressions import Combinable, ExpressionWrapper
from django.db.models.functions import Left

from surfaces.filters import Cursor, Filters
from surfaces.models import Draft, Message
from surfaces.models.message import Direction, SpamStatus
from surfaces.reach import WHOLE, Reach

__all__ = ["Cursor", "Filters", "Page", "news_of", "page", "rows"]

SIZE = 50  # rows on a page
MOST_COUNTED = 1_000  # beyond this, "1,000+" says enough
WINDOW = 12_000  # rows looked at for one page
MOST_HITS = 3_000  # of a search in the whole table
EXCERPT = 280
NEWEST_FIRST = ("-created_at", "-id")
BACKWARDS = ("created_at", "id")
# Conditions that one index answers in order, the narrowest first.
DRIVERS = (
    "author", "is_waiting", "community", "reply_status", "spam_status", "is_ours", "is_post",
    "account",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Rows, newest first. `newer` and `older` are query strings, "" when there is nothing."""

    rows: list[Message]
    newer: str = ""
    older: str = ""
    found: int | None = None  # counted on the first page only
    is_more: bool = False  # than `found`
    looked_back_to: datetime | None = None  # the window ended here, before the page was full

    @property
    def found_words(self) -> str:
        return "" if self.found is None else f"{self.found:,}{'+' if self.is_more else ''}"


def page(filters: Filters, *, before: str = "", after: str = "", size: int = SIZE) -> Page:
    """Return one page: the newest, or what is older or newer than a cursor."""
    if filters.reaches_nothing:
        return Page(rows=[], found=0)
    cursor = Cursor.read(before or after)
    backwards = bool(cursor and after and not before)
    look = _Look(filters, cursor, backwards)
    wanted = size + 1 if cursor else MOST_COUNTED + 1
    places = look.places(wanted)
    end = None
    if len(places) < wanted and (end := look.window_end()):
        places, end = look.places_anywhere(wanted, places, end)
    shown = places[:size]
    if backwards:
        shown.reverse()
    if backwards and not shown and end is None:
        return page(filters, size=size)  # nothing is newer: this is the first page
    return Page(
        rows=rows([place.pk for place in shown]),
        found=None if cursor else min(len(places), MOST_COUNTED),
        is_more=len(places) > MOST_COUNTED or end is not None,
        looked_back_to=end.at if end and len(places) <= size else None,
        **_links(filters, shown, cursor, end, backwards, is_full=len(places) > size),
    )


def _links(
    filters: Filters,
    shown: list[Cursor],
    cursor: Cursor | None,
    end: Cursor | None,
    backwards: bool,
    *,
    is_full: bool,
) -> dict[str, str]:
    """Where the pages around this one begin."""
    further = end if not is_full else None
    newest = shown[0] if shown else cursor
    oldest = shown[-1] if shown else cursor
    newer = older = None
    if backwards:
        older = oldest
        newer = newest if is_full else further
    else:
        newer = newest if cursor else None
        older = oldest if is_full else further
    asked = filters.query()
    return {
        "newer": urlencode(asked | {"after": str(newer)}) if newer else "",
        "older": urlencode(asked | {"before": str(older)}) if older else "",
    }


def rows(ids: Sequence[int]) -> list[Message]:
    """Fetch what a page shows of these messages, in this order, and no more."""
    wanted = Message.objects.filter(pk__in=ids).select_related("account__surface")
    wanted = wanted.defer(
        "raw_json", "search", "content", "account__sealed_credential", "account__cursor"
    )
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
    """One look through the table, from a cursor in one direction."""

    def __init__(self, filters: Filters, cursor: Cursor | None, backwards: bool) -> None:
        self._filters = filters
        self._cursor = cursor
        self._is_backwards = backwards
        rows = Message.objects.order_by(*(BACKWARDS if backwards else NEWEST_FIRST))
        if cursor:
            rows = rows.filter(_row_is(">" if backwards else "<", cursor))
        self._rest = filters.conditions()
        if driver := next((name for name in DRIVERS if name in self._rest), None):
            rows = rows.filter(self._rest.pop(driver))
        self._index: QuerySet[Message] = rows

    def places(self, most: int) -> list[Cursor]:
        """Walk the index, a window of it at most, and keep what fits."""
        window = self._index.annotate(fits=_all_of(self._rest)).values("created_at", "id", "fits")[
            :WINDOW
        ]
        sql, given = window.query.sql_with_params()
        way = "ASC" if self._is_backwards else "DESC"
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT created_at, id FROM ({sql}) AS looked_at WHERE fits"  # noqa: S608
                f" ORDER BY created_at {way}, id {way} LIMIT %s",
                [*given, most],
            )
            return [Cursor(at, pk) for at, pk in cursor.fetchall()]

    def window_end(self) -> Cursor | None:
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
        return Cursor(row[0], row[1]) if row and row[2] >= WINDOW else None

    def places_anywhere(
        self, most: int, places: list[Cursor], end: Cursor
    ) -> tuple[list[Cursor], Cursor | None]:
        """Ask the word index about the whole table, when the words are rare enough."""
        if not self._filters.is_indexed:
            return places, end
        rest = self._filters.conditions()
        hits = Message.objects.filter(rest.pop("words")).annotate(fits=_all_of(rest))
        with transaction.atomic(), connection.cursor() as cursor:
            # The word index or nothing: a planner that hopes for luck would read the table.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL jit = off")
            found = list(hits.values_list("created_at", "id", "fits")[: MOST_HITS + 1])
        if len(found) > MOST_HITS:
            return places, end
        return self._in_order([Cursor(at, pk) for at, pk, fits in found if fits])[:most], None

    def _in_order(self, places: list[Cursor]) -> list[Cursor]:
        """Newest first, or oldest first when walking backwards, beyond the cursor only."""
        start = self._cursor
        if start and self._is_backwards:
            places = [place for place in places if place > start]
        elif start:
            places = [place for place in places if place < start]
        return sorted(places, reverse=not self._is_backwards)


def _all_of(conditions: Mapping[str, Q]) -> Combinable:
    if not conditions:
        return Value(True, output_field=BooleanField())
    return ExpressionWrapper(Q(*conditions.values()), output_field=BooleanField())


def _row_is(sign: str, cursor: Cursor) -> Func:
    """Compare (created_at, id) as one value, so that the index answers it."""
    row = Func(F("created_at"), F("id"), template="(%(expressions)s)")
    place = Func(Value(cursor.at), Value(cursor.pk), template="(%(expressions)s)")
    return Func(
        row, place, template="%(expressions)s", arg_joiner=f" {sign} ", output_field=BooleanField()
    )


def news_of(posts: Sequence[Message], reach: Reach = WHOLE) -> dict[int, dict[str, int]]:
    """What stands under these posts: ours, spam, and drafts that wait. Two grouped queries."""
    ids = [post.pk for post in posts]
    news: dict[int, dict[str, int]] = {pk: {} for pk in ids}
    under = Message.objects.filter(post__in=ids).comments()
    counts = (
        under.order_by()
        .values("post")
        .annotate(
            stored=Count("pk"),
            ours=Count("pk", filter=Q(direction=Direction.OUTGOING)),
            spam=Count("pk", filter=Q(spam_status=SpamStatus.SPAM)),
        )
    )
    for pk, stored, ours, spam in counts.values_list("post", "stored", "ours", "spam"):
        news[pk] |= {"stored": stored, "ours": ours, "spam": spam}
    waiting = reach.narrow(Draft.objects.waiting()).filter(target__post__in=ids).order_by()
    for pk, count in waiting.values_list("target__post").annotate(Count("pk")):
        news[pk]["waiting"] = count
    return news
