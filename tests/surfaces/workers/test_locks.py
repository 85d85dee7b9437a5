"""Locks that show whether a worker is alive."""

import multiprocessing
from typing import Any

from surfaces.workers.locks import lock_of_this_thread


def test_processes_forked_from_one_have_locks_of_their_own() -> None:
    """The queue's processes are forked from one that has read this module."""
    forking = multiprocessing.get_context("fork")
    told: Any = forking.SimpleQueue()
    children = [forking.Process(target=_tell, args=(told,)) for _ in range(2)]
    for child in children:
        child.start()
    names = {told.get() for _ in children} | {lock_of_this_thread().name}
    for child in children:
        child.join()
    assert len(names) == 3


def _tell(told: Any) -> None:
    told.put(lock_of_this_thread().name)
