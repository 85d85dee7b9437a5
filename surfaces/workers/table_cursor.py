"""How far a table was read whose ids do not commit in order.

A cursor moves only past what no running transaction can still add: `candidate` was the highest
id at some moment; once every transaction that ran at that moment has ended (`horizon`), all ids
up to it are there, and `through` becomes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from django.db import connection

TOP = """
SELECT COALESCE(max(id), 0), pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
FROM {table}
"""


class CursorRow(Protocol):
    """What is stored of a cursor, in integers; locked by who reads."""

    through: Any  # every id up to it is known
    candidate: Any  # becomes `through`
    horizon: Any  # a transaction id of PostgreSQL


Row = TypeVar("Row", bound=CursorRow)


@dataclass(slots=True)
class TableCursor(Generic[Row]):
    """One look at a table: from where, and how far the row may move when it is done."""

    row: Row
    top: int
    oldest_running: int
    next_to_run: int
    overlap: int  # ids taken from the sequence a moment before their transaction had a number

    @classmethod
    def of(cls, row: Row, table: str, *, overlap: int = 0) -> TableCursor[Row]:
        """Make one before anything is read: what ends later may not have been visible."""
        with connection.cursor() as cursor:
            cursor.execute(TOP.format(table=table))
            top, oldest_running, next_to_run = cursor.fetchone()
        return cls(row, max(top, row.through), oldest_running, next_to_run, overlap)

    @property
    def is_still(self) -> bool:
        """Nothing came, and nothing is left to move past."""
        return bool(self.row.candidate == self.top <= self.row.through + self.overlap)

    def advance(self) -> bool:
        """Move the row as far as is certain; False where a transaction is still awaited."""
        row = self.row
        if row.horizon > self.oldest_running:
            return False
        row.through = max(row.through, row.candidate - self.overlap)
        row.candidate, row.horizon = max(self.top, row.through), self.next_to_run
        return True
