"""A worker has one name, and no two workers have the same."""

import os

from surfaces.workers.locks import lock_of_this_thread


def test_a_forked_process_has_a_name_of_its_own():
    ours = lock_of_this_thread().name
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(mouth, lock_of_this_thread().name.encode())
        os._exit(0)
    os.close(mouth)
    os.waitpid(child, 0)
    with os.fdopen(ear) as told:
        theirs = told.read()
    assert f":{child}:" in theirs
    assert theirs != ours == lock_of_this_thread().name
