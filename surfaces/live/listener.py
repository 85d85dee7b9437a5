"""The connection on which this process receives notifications of PostgreSQL.

It belongs to the thread that uses it, and serves that thread's queries, too. A lost
one is opened again after a wait that grows; what was missed meanwhile is made good by telling
everybody how things stand.
"""

from __future__ import annotations

import logging

import psycopg
from django.db import DatabaseError, connection

CHANNEL = "colloquy"
LONGEST_WAIT = 10.0  # seconds between two tries
LOST = (DatabaseError, psycopg.Error)

log = logging.getLogger(__name__)


class Listener:
    """Open, lost, or waiting for the next try. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self.fd: int | None = None
        self._try_at = 0.0
        self._wait = 0.25

    def try_at(self) -> float:
        return self._try_at

    def open(self, moment: float) -> int | None:
        """Connect and listen; return what to wait for, or None if that did not go well."""
        try:
            connection.close()
            connection.ensure_connection()
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {CHANNEL}")
            self.fd = connection.connection.fileno()
        except LOST as error:
            self.lose(moment, error)
            return None
        self._wait = 0.25
        return self.fd

    def heard(self) -> bool:
        """Whether a notification arrived since the last call. Does not block."""
        return bool(list(connection.connection.notifies(timeout=0)))

    def lose(self, moment: float, error: Exception | None = None) -> None:
        if error is not None:
            log.warning("live: the database is away (%s); again in %.1f s", error, self._wait)
        self.close()
        self._try_at = moment + self._wait
        self._wait = min(LONGEST_WAIT, self._wait * 2)

    def close(self) -> None:
        self.fd = None
        connection.close()
