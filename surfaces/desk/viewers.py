"""Who has an item open: a lease of five minutes, renewed while the page is open.

It forbids nothing: the first decision wins. It only avoids double work.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce, Concat, NullIf, Trim

from surfaces.desk.models import DeskItemQuerySet, DeskViewer
from surfaces.operators.models.operator import Operator

LEASE = timedelta(minutes=5)

# One statement: let go of what this person had open before, take or renew this one, and see who
# else is there. A lease that ran out begins anew.
OPEN = """
WITH let_go AS (
    DELETE FROM desk_readers
    WHERE operator_id = %(me)s AND NOT (kind = %(kind)s AND item_id = %(item)s)
), mine AS (
    INSERT INTO desk_readers AS r (kind, item_id, operator_id, since, until)
    VALUES (%(kind)s, %(item)s, %(me)s, %(now)s, %(until)s)
    ON CONFLICT (kind, item_id, operator_id) DO UPDATE SET
        until = excluded.until,
        since = CASE WHEN r.until > %(now)s THEN r.since ELSE excluded.since END
    RETURNING since
)
SELECT coalesce(nullif(trim(o.first_name || ' ' || o.last_name), ''), o.username),
       r.since < (SELECT since FROM mine)
FROM desk_readers r JOIN surfaces_operator o ON o.id = r.operator_id
WHERE r.kind = %(kind)s AND r.item_id = %(item)s AND r.operator_id <> %(me)s AND r.until > %(now)s
ORDER BY r.since, r.id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewerNames:
    """`holder` opened it first, "" if that is you; `others` came after."""

    holder: str = ""
    others: tuple[str, ...] = ()


def open_item(kind: str, item_id: int, operator: Operator, *, now: datetime) -> ViewerNames:
    named: dict[str, Any] = {"kind": kind, "item": item_id, "me": operator.pk}
    with connection.cursor() as cursor:
        cursor.execute(OPEN, {**named, "now": now, "until": now + LEASE})
        rows = cursor.fetchall()
    holder = next((name for name, was_first in rows if was_first), "")
    others = tuple(name for name, _ in rows if name != holder)
    return ViewerNames(holder=holder, others=others)


def close_item(kind: str, item_id: int) -> None:
    DeskViewer.objects.of(kind, item_id).delete()


def with_viewers(rows: DeskItemQuerySet, operator: Operator, now: datetime) -> DeskItemQuerySet:
    """Each item with `read_by`, the name of somebody else who has it open."""
    there = DeskViewer.objects.now_at(now).exclude(operator=operator)
    there = there.filter(kind=OuterRef("kind"), item_id=OuterRef("item_id"))
    full = Trim(Concat("operator__first_name", Value(" "), "operator__last_name"))
    named = there.values(name=Coalesce(NullIf(full, Value("")), F("operator__username")))
    return rows.annotate(read_by=Subquery(named[:1]))


def prune(*, now: datetime) -> int:
    return DeskViewer.objects.filter(until__lte=now).delete()[0]
