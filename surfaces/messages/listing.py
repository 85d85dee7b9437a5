"""List messages with any filter in bounded time, over a million rows.

A page never counts, never skips and never reads more than it can afford: it walks
at most `WINDOW` rows of the one index that narrows most, from where the last page
ended. If the window ended early, the page says so and links to the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import gt, lt
from typing import Any

from django.db import connection, transaction
from django.db.models import BooleanField, F, Q, QuerySet, Value
from django.db.models.expressions import Combinable, ExpressionWrapper

from surfaces.messages.filters import Filters
from surfaces.messages.models import Message, beginning
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
    found: int | None = None  # counted on the first page only
    is_more: bool = False  # than `found`
    looked_back_to: datetime | None = None  # the window ended here, before the page was full

    @property
    def found_words(self) -> str:
        return "" if self.found is None else f"{self.found:,}{'+' if self.is_more else ''}"


def list_messages(filters: Filters, given: Mapping[str, str], *, size: int = SIZE) -> MessagePage:
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
    newer, older = _neighbours(shown, key, end, backwards, is_full=len(places) > size)
    return MessagePage(
        rows=rows([pk for _, pk in shown]),
        found=None if key else min(count, MOST_COUNTED),
        is_more=count > MOST_COUNTED or end is not None,
        looked_back_to=end[0] if end and len(places) <= size else None,
        **NEWEST_FIRST.links(filters.query(), newer=newer, older=older),
    )


def _neighbours(
    shown: list[Key], key: Key | None, end: Key | None, backwards: bool, *, is_full: bool
) -> tuple[Key | None, Key | None]:
    """Where the newer page ends, and where the older begins."""
    further = end if not is_full else None
    newest, oldest = (shown[0], shown[-1]) if shown else (key, key)
    if backwards:
        return newest if is_full else further, oldest
    return newest if key else None, oldest if is_full else further


def rows(ids: Sequence[int]) -> list[Message]:
    shown = Message.objects.filter(pk__in=ids).select_related("account").only(*SHOWN)
    wanted = shown.annotate(
        excerpt=beginning("content", EXCERPT),
        thread_title=beginning("post__title", EXCERPT),
        thread_start=beginning("post__content", EXCERPT),
        judged_by=F("spam_decision__by"),
    )
    found = {row.pk: row for row in wanted}
    return [found[pk] for pk in ids if pk in found]


class _Look:
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
        window = self._index.annotate(fits=_all_of(self._rest)).values("created_at", "id", "fits")
        sql, given = window[:WINDOW].query.sql_with_params()
        way = "ASC" if self._is_backwards else "DESC"
        found = _fetch(
            "SELECT created_at, id, count(*) OVER () FROM (SELECT created_at, id"  # noqa: S608
            f" FROM ({sql}) AS looked_at WHERE fits ORDER BY created_at {way}, id {way}"
            f" LIMIT %s) AS found ORDER BY created_at {way}, id {way} LIMIT %s",
            [*given, most, size],
        )
        return [(at, pk) for at, pk, _ in found], found[0][2] if found else 0

    def window_end(self) -> Key | None:
        """The last row the window reached; None if the walk came to the end of the index."""
        if not self._rest:
            return None  # everything fits, so a page that is not full is the end
        last = self._index.values_list("created_at", "id")[:WINDOW]
        sql, given = last.query.sql_with_params()
        way = "DESC" if self._is_backwards else "ASC"  # the end first
        found = _fetch(
            "SELECT created_at, id, reached FROM (SELECT *, count(*) OVER () AS reached"  # noqa: S608
            f" FROM ({sql}) AS looked_at) AS counted ORDER BY created_at {way}, id {way} LIMIT 1",
            given,
        )
        return found[0][:2] if found and found[0][2] >= WINDOW else None

    def seems_rare(self) -> bool:
        """Whether a glance at the first rows finds the words so seldom that an index knows more."""
        if not self._filters.is_indexed:
            return False
        most = min(GLANCE, WINDOW)
        rows = self._index.annotate(fits=_all_of(self._rest)).values("fits")[:most]
        sql, given = rows.query.sql_with_params()
        counted = f"SELECT count(*), count(*) FILTER (WHERE fits) FROM ({sql}) AS seen"  # noqa: S608
        [(seen, hits)] = _fetch(counted, given)
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
        places = sorted((at, pk) for at, pk, fits in found if fits)
        if not self._is_backwards:
            places.reverse()
        beyond = gt if self._is_backwards else lt
        return [at for at in places if self._key is None or beyond(at, self._key)][:most]


def _fetch(sql: str, given: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())


def _all_of(conditions: Mapping[str, Q]) -> Combinable:
    if not conditions:
        return Value(True, output_field=BooleanField())
    return ExpressionWrapper(Q(*conditions.values()), output_field=BooleanField())
