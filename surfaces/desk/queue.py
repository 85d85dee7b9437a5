"""The queue: a page of what waits, what comes after an item, how much there is.

Every page is found by key through an index; nothing is counted beyond a thousand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet, Subquery
from django.utils import timezone

from surfaces.desk.asked import SOON, Asked, rows_of
from surfaces.desk.kinds import Kind, Line, kinds
from surfaces.desk.readers import with_readers
from surfaces.models import DeskItem, Operator
from surfaces.models.desk import DeskItemQuerySet
from surfaces.reach import Reach

SIZE = 30
MOST_COUNTED = 1000  # beyond this, "999+" says enough
ORDER = {
    "": ("since", "pk"),
    "expiry": ("since", "pk"),
    "risk": ("-risk", "since", "pk"),
    "newest": ("-since", "-pk"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One item as the queue shows it."""

    item: DeskItem
    kind: Kind
    line: Line

    @property
    def key(self) -> str:
        return self.item.key


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What expires soon, then the rest; `more` is the query string of what follows."""

    soon: list[Row]
    rest: list[Row]
    more: str
    newest: int  # what arrives later has a higher id

    @property
    def rows(self) -> list[Row]:
        return [*self.soon, *self.rest]


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many of one kind wait, since when, until when, and how many at high risk."""

    count: int = 0
    oldest: datetime | None = None
    soonest: datetime | None = None
    high: int = 0
    expiring: int = 0  # within the hour

    @property
    def words(self) -> str:
        return capped(self.count)


def within(asked: Asked, reach: Reach, now: datetime) -> DeskItemQuerySet:
    return reach.narrow(rows_of(asked, now))


def page(
    asked: Asked,
    reach: Reach,
    now: datetime,
    after: str = "",
    *,
    reader: Operator | None = None,
    may_expire: bool = True,
) -> Page:
    """One page; what expires within the hour stands on the first, before everything else.

    With a `reader`, each row says who else has it open. `may_expire` False saves a look.
    """
    rows = within(asked, reach, now)
    rows = with_readers(rows, reader, now) if reader else rows
    soon: list[DeskItem] = []
    if asked.order in {"", "expiry"}:
        if not after and may_expire:
            soon = list(_light(rows.expiring_by(now + SOON).order_by("expires_at", "pk"))[:SIZE])
        rows = rows.not_expiring_by(now + SOON)
    rest = list(_light(_following(rows, asked, after))[: SIZE + 1])
    more = _key(rest[SIZE - 1]) if len(rest) > SIZE else ""
    shown = _with_lines([*soon, *rest[:SIZE]])
    first_ones = {item.pk for item in soon}
    return Page(
        soon=[row for row in shown if row.item.pk in first_ones],
        rest=[row for row in shown if row.item.pk not in first_ones],
        more=urlencode({**asked.query(), "after": more}) if more else "",
        newest=shown[0].item.newest if shown else newest(),  # type: ignore[attr-defined]
    )


def _light(rows: DeskItemQuerySet) -> DeskItemQuerySet:
    rows = rows.select_related("account__surface")
    last = DeskItem.objects.order_by("-pk").values("pk")[:1]
    rows = rows.annotate(newest=Subquery(last))
    return rows.defer("account__sealed_credential", "account__cursor")


def _following(rows: DeskItemQuerySet, asked: Asked, after: str) -> DeskItemQuerySet:
    """Rows behind a key, in order. A key that cannot be read is none."""
    rows = rows.order_by(*ORDER[asked.order])
    found = _read(after)
    if found is None:
        return rows
    risk, since, pk = found
    if asked.order == "newest":
        return rows.filter(Q(since__lt=since) | Q(since=since, pk__lt=pk), since__lte=since)
    behind = Q(since__gt=since) | Q(since=since, pk__gt=pk)
    if asked.order == "risk":
        return rows.filter(Q(risk__lt=risk) | Q(risk=risk) & behind, risk__lte=risk)
    return rows.filter(behind, since__gte=since)


def _key(item: DeskItem) -> str:
    return f"{item.risk}~{item.since.isoformat()}~{item.pk}"


def _read(key: str) -> tuple[int, datetime, int] | None:
    risk, _, rest = key[:80].partition("~")
    since, _, pk = rest.partition("~")
    try:
        moment = datetime.fromisoformat(since)
        numbers = int(risk), int(pk)
    except (ValueError, OverflowError):
        return None
    if timezone.is_naive(moment) or not 0 <= numbers[0] <= 9 or not 0 <= numbers[1] < 1 << 62:
        return None
    return numbers[0], moment, numbers[1]


def following(item: DeskItem, asked: Asked, reach: Reach, now: datetime) -> DeskItem | None:
    """What to look at after `item`: the next in order, else the first."""
    rows = within(asked, reach, now).exclude(pk=item.pk)
    if asked.order in {"", "expiry"}:
        soon = rows.expiring_by(now + SOON).order_by("expires_at", "pk")
        if item.expires_at and item.expires_at <= now + SOON:
            soon = soon.filter(expires_at__gte=item.expires_at)
            rest = rows.not_expiring_by(now + SOON).order_by(*ORDER[""])
            return soon.first() or rest.first() or rows.first()
        rows_behind = rows.not_expiring_by(now + SOON)
    else:
        rows_behind = rows
    return _following(rows_behind, asked, _key(item)).first() or first(asked, reach, now, but=item)


def first(
    asked: Asked, reach: Reach, now: datetime, *, but: DeskItem | None = None
) -> DeskItem | None:
    rows = within(asked, reach, now)
    rows = rows.exclude(pk=but.pk) if but else rows
    if asked.order in {"", "expiry"}:
        soon = rows.expiring_by(now + SOON).order_by("expires_at", "pk").first()
        return soon or rows.order_by(*ORDER[""]).first()
    return rows.order_by(*ORDER[asked.order]).first()


def _with_lines(items: Sequence[DeskItem]) -> list[Row]:
    """With what each row says, one query per table however many kinds share it."""
    by_loader: dict[Any, list[DeskItem]] = {}
    for item in items:
        by_loader.setdefault(kinds()[item.kind].load, []).append(item)
    loaded = {load: load([item.item_id for item in wanted]) for load, wanted in by_loader.items()}
    rows = []
    for item in items:
        kind = kinds()[item.kind]
        if found := loaded[kind.load].get(item.item_id):
            rows.append(Row(item=item, kind=kind, line=kind.line(found, item)))
    return rows


# ── how much ──────────────────────────────────────────────────────────────


def counts(
    reach: Reach,
    now: datetime | None = None,
    *,
    views: Sequence[Asked] = (),
    also: Mapping[str, QuerySet[Any]] | None = None,
) -> dict[str, Waiting]:
    """What waits, by kind, in one query that reads at most a thousand of each.

    `views` are counted as "view 0", "view 1" …; `also` names rows of other tables.
    """
    now = now or timezone.now()
    others: dict[str, QuerySet[Any]] = {
        f"view {number}": within(each, reach, now) for number, each in enumerate(views)
    }
    others |= also or {}
    given: dict[str, Any] = {
        "kinds": [*kinds()], "now": now, "soon": now + SOON, "most": MOST_COUNTED,
        "accounts": None if reach.accounts is None else sorted(reach.accounts),
        "agents": None if reach.agents is None else ["", *sorted(reach.agents)],
    }  # fmt: skip
    parts = [_only_counted(name, rows) for name, rows in others.items()]
    sql = " UNION ALL ".join([COUNTS, *(part for part, _ in parts)])
    with connection.cursor() as cursor:
        cursor.execute(sql, [given[name] for name in GIVEN] + [p for _, ps in parts for p in ps])
        found = {name: Waiting(*facts) for name, *facts in cursor.fetchall()}
    return {name: found.get(name, Waiting()) for name in [*kinds(), *others]}


GIVEN = ["kinds", "now", "soon", "now", "accounts", "accounts", "agents", "agents", "most"]
COUNTS = """
SELECT k.kind, c.* FROM unnest(%s::text[]) AS k(kind), LATERAL (
    SELECT count(*), min(since), min(expires_at) FILTER (WHERE expires_at > %s),
        count(*) FILTER (WHERE risk = 2), count(*) FILTER (WHERE expires_at <= %s)
    FROM (
        SELECT since, expires_at, risk FROM desk_items
        WHERE kind = k.kind AND (later_until IS NULL OR later_until <= %s)
            AND (%s::bigint[] IS NULL OR account_id = ANY(%s::bigint[]))
            AND (%s::text[] IS NULL OR agent = ANY(%s::text[]))
        ORDER BY since, id LIMIT %s
    ) few
) c"""


def _only_counted(name: str, rows: QuerySet[Any]) -> tuple[str, list[Any]]:
    try:
        sql, values = rows.order_by().values("pk")[:MOST_COUNTED].query.sql_with_params()
    except EmptyResultSet:  # nothing is within reach
        return "SELECT %s, 0, NULL, NULL, 0, 0", [name]
    return f"SELECT %s, count(*), NULL, NULL, 0, 0 FROM ({sql}) few", [name, *values]  # noqa: S608


def news(given: Mapping[str, str], reach: Reach, after: int) -> int:
    """How many arrived since the page was made that it would show, a thousand at most."""
    rows = within(Asked.of(given), reach, timezone.now()).arrived_after(after)
    return rows.order_by()[:MOST_COUNTED].count()


def newest() -> int:
    """The newest id there is: where news begin."""
    found = DeskItem.objects.order_by("-pk").values_list("pk", flat=True).first()
    return found or 0


def capped(number: int) -> str:
    return f"{MOST_COUNTED - 1}+" if number >= MOST_COUNTED else f"{number:,}"
