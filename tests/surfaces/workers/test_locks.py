"""Locks of workers: one name per thread and process."""

import os
from threading import Thread

from surfaces.workers.locks import lock_of_this_thread


def test_forked_processes_have_names_of_their_own() -> None:
    """The task queue forks its workers after the module was imported."""
    lock_of_this_thread()
    assert len({_name_in_a_fork(), _name_in_a_fork(), _name()}) == 3


def test_a_thread_keeps_its_name_and_another_has_its_own() -> None:
    names: list[str] = []
    thread = Thread(target=lambda: names.append(_name()))
    thread.start()
    thread.join()
    assert _name() == _name() != names[0]


def _name_in_a_fork() -> str:
    """Nothing else is done there: other threads of ours may hold locks that nobody frees."""
    read, write = os.pipe()
    if not (pid := os.fork()):
        os.write(write, _name().encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with open(read) as told:
        return told.read()


def _name() -> str:
    return lock_of_this_thread().name
