"""Whether a voice shall stop: its process ends, or an operator asked (activations, 10)."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from django.db import connection

from dialogue.activations.models import Activation

LOOKS_EVERY = 1.0  # seconds


class StopSignal:
    """Answer at once, and thread-safe: event loops ask it ten times a second.

    The row is looked at beside them, by one thread of the process.
    """

    def __init__(self, activation: Activation, is_ending: Callable[[], bool]) -> None:
        self.activation, self.is_ending = activation, is_ending
        self.by = ""  # the operator who asked
        self._look: Future[str] | None = None
        self._looks_at = time.monotonic() + LOOKS_EVERY

    def __call__(self) -> bool:
        return self.is_ending() or self.is_asked()

    def is_asked(self) -> bool:
        if self._look and self._look.done():
            self.by, self._look = self.by or self._look.result(), None
        if not self.by and self._look is None and time.monotonic() >= self._looks_at:
            self._looks_at = time.monotonic() + LOOKS_EVERY
            self._look = _looker(os.getpid()).submit(_asked_by, self.activation.pk)
        return bool(self.by)

    def look(self) -> bool:
        """Ask the row itself, from a thread that may."""
        self.by = self.by or stop_asked_by(self.activation.pk)
        return self()


def stop_asked_by(pk: int) -> str:
    rows = Activation.objects.filter(pk=pk).exclude(stop_asked_at=None)
    return rows.values_list("stop_asked_by", flat=True).first() or ""


@cache
def _looker(pid: int) -> ThreadPoolExecutor:
    """One thread of each process, since a forked one inherits no threads."""
    return ThreadPoolExecutor(1, thread_name_prefix="stop")


def _asked_by(pk: int) -> str:
    try:
        return stop_asked_by(pk)
    except Exception:  # noqa: BLE001 - the next look may reach the database
        return ""
    finally:
        connection.close()
