"""Empty the tables after a test with real transactions: only those that hold rows, by DELETE.

The program's role may not do that: the owner of the tables does, on a connection of its own.

Django's own way truncates every table, with a file for each index, and makes the content types
and permissions anew: ten times the work, after each such test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.test import TransactionTestCase

from config.postgres.base import as_owner

# What a migrated database holds before anybody writes to it; a test leaves it as it is.
FURNITURE = ("django_content_type", "auth_permission", "django_migrations")
_slow_way: Any = TransactionTestCase._fixture_teardown
_furniture: list[str] = []


def quickly() -> None:
    """Have every test with real transactions cleaned up after this way, where we may."""
    with owner().cursor() as cursor:
        cursor.execute("SHOW is_superuser")
        if cursor.fetchone() != ("on",):
            return  # only a superuser silences triggers
    assert filled_tables() == [], "a test database has no rows of its own but the furniture"
    _furniture[:] = _seen_furniture()
    TransactionTestCase._fixture_teardown = _tear_down  # type: ignore[method-assign]


@cache
def owner() -> Any:
    """The owner's connection, kept for all tests of this process."""
    return connections[DEFAULT_DB_ALIAS].owner()


@contextmanager
def all_at_once() -> Iterator[Any]:
    """A transaction of the owner in which triggers and foreign keys have no say."""
    with owner().cursor() as cursor:
        cursor.execute("BEGIN; SET LOCAL session_replication_role = replica")
        try:
            yield cursor
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")


def is_quick() -> bool:
    return bool(_furniture)


@cache
def tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace ORDER BY relname"
        )
        return [f'"{name}"' for (name,) in cursor if name not in FURNITURE]


def filled_tables() -> list[str]:
    checks = ", ".join(f"EXISTS (SELECT FROM {table})" for table in tables())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {checks}")
        return [table for table, is_filled in zip(tables(), cursor.fetchone(), strict=True)
                if is_filled]  # fmt: skip


def empty() -> None:
    """Take every row away, when whoever still writes has come to an end."""
    with all_at_once() as cursor:
        cursor.execute(f"LOCK TABLE {', '.join(tables())} IN EXCLUSIVE MODE")
        for table in filled_tables():
            cursor.execute(f"DELETE FROM {table}")


def _tear_down(case: TransactionTestCase) -> None:
    if case.available_apps is not None or case.serialized_rollback or furniture_was_moved():
        with as_owner():
            _slow_way(case)
        _furniture[:] = _seen_furniture()
    else:
        empty()


def furniture_was_moved() -> bool:
    return _seen_furniture() != _furniture


def _seen_furniture() -> list[str]:
    found = []
    with connection.cursor() as cursor:
        for table in FURNITURE:
            cursor.execute(f"SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {table} t")
            found.append(str(cursor.fetchone()[0]))
    return found
