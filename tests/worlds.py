"""A filled database, made once by the program itself and laid out again for each further test.

What making it wrote is kept in a schema of its own, in the test database. Laid out later, its
times are as much later: what was written a minute ago was written a minute ago again. Its ids
stay, and nobody else gets them, for sequences only go up.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db import connection
from django.utils import timezone

from tests import truncate

COLUMNS = """
    SELECT quote_ident(attname), atttypid = 'timestamptz'::regtype
    FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0
    AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""
# Who looks at a world may be there before it.
ONLOOKERS = ('"surfaces_operator"', '"surfaces_operator_surfaces"')


class World:
    """`make` fills a database that holds nothing but onlookers; `lay_out` has it filled."""

    def __init__(self, name: str, make: Callable[[], object]) -> None:
        self.schema, self.make = f"world_{name}", make
        self.hour = ""
        self.made_at: datetime | None = None  # when the last row had been written
        self.inserts = ""

    def lay_out(self) -> None:
        filled = truncate.filled_tables()
        if not truncate.is_quick() or set(filled) - set(ONLOOKERS):
            self.make()  # a database in use gets its rows from the program
        elif self.hour == _hour():
            self._insert()  # what was counted by hours and days holds still
        else:
            self._make_and_keep(filled)

    def _make_and_keep(self, onlookers: list[str]) -> None:
        before = {table: _ids(table) for table in onlookers}
        self.hour = _hour()
        self.make()
        self.made_at = timezone.now()
        with truncate.all_at_once() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
            cursor.execute(f"CREATE SCHEMA {self.schema}")
            for table in truncate.filled_tables():
                given = f"WHERE NOT id = ANY(ARRAY{before[table]})" if table in before else ""
                copy = f"{self.schema}.{table}"
                cursor.execute(f"CREATE TABLE {copy} AS SELECT * FROM {table} {given}")
        self.inserts = "; ".join(map(self._insert_into, truncate.filled_tables()))

    def _insert_into(self, table: str) -> str:
        with connection.cursor() as cursor:
            cursor.execute(COLUMNS, [table])
            columns = cursor.fetchall()
        names = ", ".join(name for name, _ in columns)
        values = ", ".join(f"{name} + later" if is_time else name for name, is_time in columns)
        kept = f"{self.schema}.{table}, (SELECT interval '%(later)s s' AS later) AS _"
        return f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {kept}"

    def _insert(self) -> None:
        assert self.made_at
        later = (timezone.now() - self.made_at).total_seconds()
        with truncate.all_at_once() as cursor:
            cursor.execute(self.inserts % {"later": later})


def _hour() -> str:
    return f"{timezone.now():%F %H}"


def _ids(table: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {table}")
        return [pk for (pk,) in cursor]
