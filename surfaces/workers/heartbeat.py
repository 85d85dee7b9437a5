"""Heartbeats of processes, so that Home shows which run.

A thread of its own writes one row every ten seconds: a process is not taken for dead because
one step takes minutes, and work never waits for the writing. A clean end takes the row away.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from itertools import count

from django.db import DatabaseError, InterfaceError, connection

from surfaces.workers.models import Worker
from surfaces.workers.wait_bounds import pull_back

EVERY = 10.0  # seconds between two signs of life
PULL_BACK = 6  # every n-th sign also pulls back what is due too far ahead
FORGOTTEN_AFTER = timedelta(days=1)
PATIENCE = 3.0  # seconds that an ending process waits for its row to go
Clock = Callable[[], datetime]


class Heartbeat:
    """Heartbeat of one process. `doing` and `done` only set a variable."""

    def __init__(self, kind: str, *, clock: Clock, name: str = "", pid: int | None = None) -> None:
        self.kind, self.name, self.clock = kind, name or kind, clock
        self.host, self.pid = socket.gethostname()[:60], pid or os.getpid()
        self.started_at = clock()
        self._doing: tuple[str, datetime | None] = ("", None)
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def doing(self, words: str) -> None:
        """From now on it does this; "" is waiting for work."""
        self._doing = (words[:120], self.clock() if words else None)

    def tell(self) -> None:
        """Write the row, in one statement."""
        doing, since = self._doing
        row = Worker(
            kind=self.kind, name=self.name[:60], host=self.host, pid=self.pid,
            started_at=self.started_at, beat_at=self.clock(), doing=doing, doing_since=since,
        )  # fmt: skip
        Worker.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["kind", "host", "pid"],
            update_fields=["name", "started_at", "beat_at", "doing", "doing_since"],
        )

    def forget(self) -> None:
        Worker.objects.called(self.kind, self.host).filter(pid=self.pid).delete()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._beat, name="sign of life", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop, and take the row away. Waits for the database only so long."""
        self._ending.set()
        if self._thread:
            self._thread.join(PATIENCE)

    def _beat(self) -> None:
        self._try(lambda: clear_away(self.kind, self.host, now=self.clock()))
        for number in count():
            if self._ending.is_set():
                break
            self._try(self.tell)
            if number % PULL_BACK == 0:
                self._try(lambda: pull_back(now=self.clock()))
            self._ending.wait(EVERY)
        self._try(self.forget)

    def _try(self, verb: Callable[[], object]) -> None:
        """A database that is away is no reason to stop; holds no connection between beats."""
        # The next beat tries again; the work itself says what it misses.
        with closing(connection), suppress(DatabaseError, InterfaceError, OSError):
            verb()


@contextmanager
def alive(kind: str, *, clock: Clock, name: str = "") -> Iterator[Heartbeat]:
    """Send heartbeats while the block runs."""
    beat = Heartbeat(kind, clock=clock, name=name)
    beat.start()
    try:
        yield beat
    finally:
        beat.end()


def clear_away(kind: str, host: str, *, now: datetime) -> None:
    """Delete rows of old processes, and of those that a new one on this host replaces."""
    Worker.objects.filter(beat_at__lt=now - FORGOTTEN_AFTER).delete()
    here = Worker.objects.called(kind, host).exclude(pid=os.getpid())
    gone = [row.pk for row in here if not _runs(row.pid)]
    Worker.objects.filter(pk__in=gone).delete()


def _runs(pid: int) -> bool:
    """Whether a process with this id runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True  # it runs, as somebody else
    return True
