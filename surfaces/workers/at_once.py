"""Do claimed work in several threads of one process, so that slow work delays no other.

Each thread has its own database connection, closed after the work. At `until` the caller waits a
moment only: threads that are still in a call end with the process, and their claims lapse.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection, connections

logger = logging.getLogger(__name__)
Claimed = TypeVar("Claimed")
Result = TypeVar("Result")

LOOKS_EVERY = 0.5  # seconds between two claims while all threads are in calls
PATIENCE = 1.0  # seconds that an ending process waits for work to finish


def do_at_once(
    claim: Callable[[Sequence[Claimed]], Claimed | None],
    work: Callable[[Claimed], Result],
    *,
    most: int,
    until: Callable[[], bool],
) -> Iterator[Result]:
    """Yield results as they come, until nothing is claimed and nothing runs.

    `claim` is given what runs. With `most` 1 the work is done in the caller's thread.
    """
    if most == 1:
        while not until() and (claimed := claim([])) is not None:
            yield work(claimed)
        return
    running: list[Claimed] = []
    ended: SimpleQueue[tuple[Claimed, list[Result]]] = SimpleQueue()
    while not until():
        while len(running) < most and (claimed := _claimed(claim, running)) is not None:
            running.append(claimed)
            Thread(target=_run, args=[work, claimed, ended], name="work", daemon=True).start()
        if not running:
            return
        yield from _next(ended, running, LOOKS_EVERY)
    ends = time.monotonic() + PATIENCE
    while running and (left := ends - time.monotonic()) > 0:
        yield from _next(ended, running, left)


def _claimed(
    claim: Callable[[Sequence[Claimed]], Claimed | None], running: Sequence[Claimed]
) -> Claimed | None:
    """While work runs, a database that is away is asked again later; else it is the caller's."""
    try:
        return claim(running)
    except (DatabaseError, InterfaceError):
        if not running:
            raise
        connection.close()
        return None


def _next(
    ended: "SimpleQueue[tuple[Claimed, list[Result]]]", running: list[Claimed], seconds: float
) -> Iterator[Result]:
    try:
        claimed, results = ended.get(timeout=seconds)
    except Empty:
        return
    running.remove(claimed)
    yield from results


def _run(
    work: Callable[[Claimed], Result],
    claimed: Claimed,
    ended: "SimpleQueue[tuple[Claimed, list[Result]]]",
) -> None:
    results: list[Result] = []
    try:
        results.append(work(claimed))
    except Exception:
        logger.exception("work in a thread failed")
    finally:
        connections.close_all()
        ended.put((claimed, results))
