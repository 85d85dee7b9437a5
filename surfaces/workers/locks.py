"""Locks that show whether a worker is alive.

A sender holds an advisory lock on its own database session for as long as it
lives. Stopped, swapped out or slow, it still holds it; killed, it does not.
Needs session-wide connections: no transaction-pooling proxy between us and
PostgreSQL (docs/install.md).
"""

import hashlib
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


class WorkerLock:
    """One thread that sends. Make one per thread; the lock belongs to its connection."""

    def __init__(self) -> None:
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._held_by = 0  # backend that holds our lock

    def hold(self) -> None:
        """Take the lock, again if the connection is a new one."""
        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        if backend == self._held_by:
            return
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_key(self.name)])
        self._held_by = backend


class _ThreadLocal(threading.local):
    def __init__(self) -> None:
        self.lock = WorkerLock()


_threads = _ThreadLocal()
# A forked process inherits the name; two that shared it would wait for each other's lock.
os.register_at_fork(after_in_child=lambda: setattr(_threads, "lock", WorkerLock()))


def lock_of_this_thread() -> WorkerLock:
    """The same one every time: each name holds a lock for as long as its connection lives."""
    return _threads.lock


@contextmanager
def one_at_a_time(name: str) -> Iterator[bool]:
    """Whether no other process is in a block of this name; True keeps others out until its end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_key(name)])
        is_alone = bool(cursor.fetchone()[0])
    try:
        yield is_alone
    finally:
        if is_alone:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_key(name)])


def is_alive(name: str) -> bool:
    """True while the sender called `name` may still act."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT CASE WHEN pg_try_advisory_lock(%(key)s)"
            " THEN NOT pg_advisory_unlock(%(key)s) ELSE true END",
            {"key": _key(name)},
        )
        return bool(cursor.fetchone()[0])


def _key(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
