"""The connection on which this process receives notifications of PostgreSQL.

It belongs to the thread that uses it, and serves that thread's queries, too. A lost one is opened
again after a wait that grows; then everybody is told how things stand.
"""

import logging
import time

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
        self.try_at = 0.0
        self._wait = 0.25

    def open(self) -> int:
        """Connect and listen; return what to wait for."""
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {CHANNEL}")
        fd: int = connection.connection.fileno()
        self.fd, self._wait = fd, 0.25
        return fd

    def heard(self) -> bool:
        """Whether a notification arrived since the last call. Does not block."""
        return bool(list(connection.connection.notifies(timeout=0)))

    def lose(self, error: Exception | None = None) -> None:
        """Close the connection. After an error, the next try has to wait."""
        self.fd = None
        connection.close()
        if error is not None:
            log.warning("live: the database is away (%s); again in %.1f s", error, self._wait)
            self.try_at = time.monotonic() + self._wait
            self._wait = min(LONGEST_WAIT, self._wait * 2)
