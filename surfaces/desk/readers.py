"""Who has an item open. A lease of five minutes, renewed while the page stands open.

It forbids nothing: the first decision wins. It only saves two people from the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce, Concat, NullIf, Trim

from surfaces.models import DeskReader, Operator
from surfaces.models.desk import DeskItemQuerySet

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
       r.since < (SELECT since FROM mine), r.until
FROM desk_readers r JOIN surfaces_operator o ON o.id = r.operator_id
WHERE r.kind = %(kind)s AND r.item_id = %(item)s AND r.operator_id <> %(me)s AND r.until > %(now)s
ORDER BY r.since, r.id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Readers:
    """`holder` opened it first, "" if that is you; `others` came after."""

    mine_until: datetime
    holder: str = ""
    holder_until: datetime | None = None
    others: tuple[str, ...] = ()


def open_item(kind: str, item_id: int, operator: Operator, *, now: datetime) -> Readers:
    """Take or renew one's lease on an item, and let go of every other."""
    until = now + LEASE
    named: dict[str, Any] = {
        "kind": kind,
        "item": item_id,
        "me": operator.pk,
        "now": now,
        "until": until,
    }
    with connection.cursor() as cursor:
        cursor.execute(OPEN, named)
        rows = cursor.fetchall()
    earlier = [(name, ends) for name, was_first, ends in rows if was_first]
    holder, ends = earlier[0] if earlier else ("", None)
    others = tuple(name for name, _, _ in rows if name != holder)
    return Readers(mine_until=until, holder=holder, holder_until=ends, others=others)


def close_item(kind: str, item_id: int) -> None:
    """It is decided: nobody need look at it any more."""
    DeskReader.objects.of(kind, item_id).delete()


def with_readers(rows: DeskItemQuerySet, operator: Operator, now: datetime) -> DeskItemQuerySet:
    """Each item with `read_by`, the name of somebody else who has it open."""
    there = DeskReader.objects.now_at(now).exclude(operator=operator)
    there = there.filter(kind=OuterRef("kind"), item_id=OuterRef("item_id"))
    full = NullIf(
        Trim(Concat("operator__first_name", Value(" "), "operator__last_name")), Value("")
    )
    named = there.values(name=Coalesce(full, F("operator__username")))
    return rows.annotate(read_by=Subquery(named[:1]))


def put_away(*, now: datetime) -> int:
    return DeskReader.objects.filter(until__lte=now).delete()[0]
