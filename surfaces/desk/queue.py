"""The queue of the desk: pages, the next item, counts.

Every page is found by key through an index; nothing is counted beyond a thousand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet, Subquery
from django.utils import timezone

from surfaces.desk.filters import SOON, DeskFilters
from surfaces.desk.kinds import DeskKind, RowSummary, kinds
from surfaces.desk.models import DeskItem, DeskItemQuerySet
from surfaces.desk.viewers import with_viewers
from surfaces.operators.models.operator import Operator
from surfaces.operators.scope import Scope
from surfaces.web.pagination import Keyset, paginate_forward

SIZE = 30
MOST_COUNTED = 1000  # beyond this, "999+" says enough
OLDEST_FIRST = Keyset(("since", datetime), ("pk", int))
ORDER = {
    "": OLDEST_FIRST,
    "expiry": OLDEST_FIRST,
    "risk": Keyset(("-risk", int), ("since", datetime), ("pk", int)),
    "newest": Keyset(("-since", datetime), ("-pk", int)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskRow:
    item: DeskItem
    kind: DeskKind
    line: RowSummary

    @property
    def key(self) -> str:
        return self.item.key


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskPage:
    """Items that expire soon, then the rest; `more` is the query string of the next page."""

    soon: list[DeskRow]
    rest: list[DeskRow]
    more: str
    newest: int  # what arrives later has a higher id

    @property
    def rows(self) -> list[DeskRow]:
        return [*self.soon, *self.rest]


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    count: int = 0
    oldest: datetime | None = None
    soonest: datetime | None = None
    high: int = 0
    expiring: int = 0  # within the hour

    @property
    def words(self) -> str:
        return capped(self.count)


def within(asked: DeskFilters, reach: Scope, now: datetime) -> DeskItemQuerySet:
    return reach.narrow(asked.of_rows(DeskItem.objects.all(), now))


def page(
    asked: DeskFilters,
    reach: Scope,
    now: datetime,
    given: Mapping[str, str],
    *,
    reader: Operator | None = None,
    may_expire: bool = True,
) -> DeskPage:
    """One page; what expires within the hour stands on the first, before everything else.

    With a `reader`, each row names who else has it open. `may_expire` False saves a query.
    """
    rows = within(asked, reach, now)
    rows = with_viewers(rows, reader, now) if reader else rows
    soon: list[DeskItem] = []
    if asked.order in {"", "expiry"}:
        if not given.get("after") and may_expire:
            soon = list(_light(rows.expiring_by(now + SOON).order_by("expires_at", "pk"))[:SIZE])
        rows = rows.not_expiring_by(now + SOON)
    keyset, keep = ORDER[asked.order], asked.query()
    rest = paginate_forward(_light(rows), given, keyset=keyset, size=SIZE, keep=keep)
    shown = _with_lines([*soon, *rest.rows])
    first_ones = {item.pk for item in soon}
    return DeskPage(
        soon=[row for row in shown if row.item.pk in first_ones],
        rest=[row for row in shown if row.item.pk not in first_ones],
        more=rest.older,
        newest=shown[0].item.newest if shown else newest(),  # type: ignore[attr-defined]
    )


def _light(rows: DeskItemQuerySet) -> DeskItemQuerySet:
    last = DeskItem.objects.order_by("-pk").values("pk")[:1]
    rows = rows.select_related("account__surface").annotate(newest=Subquery(last))
    own = {field.attname for field in DeskItem._meta.concrete_fields} - {"sought"}
    account = [f"account__{name}" for name in ("name", "state", "state_why", "surface__name")]
    return rows.only(*own, *account)


def following(item: DeskItem, asked: DeskFilters, reach: Scope, now: datetime) -> DeskItem | None:
    """The item after `item` in order, else the first."""
    rows, keyset = within(asked, reach, now).exclude(pk=item.pk), ORDER[asked.order]
    if asked.order not in {"", "expiry"}:
        return keyset.slice(rows, keyset.key_of(item)).first() or keyset.slice(rows).first()
    soon = rows.expiring_by(now + SOON).order_by("expires_at", "pk")
    rest = rows.not_expiring_by(now + SOON)
    if item.expires_at and item.expires_at <= now + SOON:
        later = soon.filter(expires_at__gte=item.expires_at)
        return later.first() or keyset.slice(rest).first() or rows.first()
    behind = keyset.slice(rest, keyset.key_of(item)).first()
    return behind or soon.first() or keyset.slice(rows).first()


def _with_lines(items: Sequence[DeskItem]) -> list[DeskRow]:
    by_loader: dict[Any, list[DeskItem]] = {}
    for item in items:
        by_loader.setdefault(kinds()[item.kind].load, []).append(item)
    loaded = {load: load([item.item_id for item in wanted]) for load, wanted in by_loader.items()}
    rows = []
    for item in items:
        kind = kinds()[item.kind]
        if found := loaded[kind.load].get(item.item_id):
            rows.append(DeskRow(item=item, kind=kind, line=kind.line(found, item)))
    return rows


def counts(
    reach: Scope,
    now: datetime | None = None,
    *,
    views: Sequence[DeskFilters] = (),
    also: Mapping[str, QuerySet[Any]] | None = None,
) -> dict[str, WaitingCounts]:
    """Count by kind, in one query that reads at most a thousand of each.

    `views` are counted as "view 0", "view 1" …; `also` names rows of other tables.
    """
    now = now or timezone.now()
    named = {f"view {number}": within(each, reach, now) for number, each in enumerate(views)}
    others: dict[str, QuerySet[Any]] = {**named, **(also or {})}
    given: dict[str, Any] = {
        "kinds": [*kinds()], "now": now, "soon": now + SOON, "most": MOST_COUNTED,
        "accounts": None if reach.accounts is None else sorted(reach.accounts),
        "agents": None if reach.agents is None else ["", *sorted(reach.agents)],
    }  # fmt: skip
    parts = [_only_counted(name, rows) for name, rows in others.items()]
    sql = " UNION ALL ".join([COUNTS, *(part for part, _ in parts)])
    with connection.cursor() as cursor:
        cursor.execute(sql, [given[name] for name in GIVEN] + [p for _, ps in parts for p in ps])
        found = {name: WaitingCounts(*facts) for name, *facts in cursor.fetchall()}
    return {name: found.get(name, WaitingCounts()) for name in [*kinds(), *others]}


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


def news(given: Mapping[str, str], reach: Scope, after: int) -> int:
    """Count new items that match the page since it was loaded, a thousand at most."""
    rows = within(DeskFilters.of(given), reach, timezone.now()).arrived_after(after)
    return rows.order_by()[:MOST_COUNTED].count()


def newest() -> int:
    return DeskItem.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def capped(number: int) -> str:
    return f"{MOST_COUNTED - 1}+" if number >= MOST_COUNTED else f"{number:,}"
