"""Locks of workers: one name per thread and process."""

import multiprocessing
from threading import Thread

from surfaces.workers.locks import lock_of_this_thread


def test_forked_processes_have_names_of_their_own() -> None:
    """The task queue forks its workers after the module was imported."""
    lock_of_this_thread()
    fork = multiprocessing.get_context("fork")
    with fork.Pool(1) as one, fork.Pool(1) as other:
        names = {pool.apply(_name) for pool in (one, other)}
    assert len(names | {_name()}) == 3


def test_a_thread_keeps_its_name_and_another_has_its_own() -> None:
    names: list[str] = []
    thread = Thread(target=lambda: names.append(_name()))
    thread.start()
    thread.join()
    assert _name() == _name() != names[0]


def _name() -> str:
    return lock_of_this_thread().name
