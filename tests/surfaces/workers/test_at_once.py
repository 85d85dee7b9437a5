"""Work in several threads: bounded in number, and no worker's trouble is another's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from django.db import OperationalError, connection

from surfaces.workers import at_once
from surfaces.workers.at_once import do_at_once


def one_by_one(names: Sequence[str]) -> Callable[[Sequence[str]], str | None]:
    left = list(names)
    return lambda running: left.pop(0) if left else None


def never() -> bool:
    return False


def test_work_that_hangs_delays_no_other():
    free = threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            free.wait(60)
        return name

    done = do_at_once(one_by_one(["slow", "a", "b", "c"]), work, most=2, until=never)
    assert [next(done) for _ in range(3)] == ["a", "b", "c"]
    free.set()
    assert list(done) == ["slow"]


def test_no_more_runs_at_once_than_allowed():
    seen, lock, meet = [0, 0], threading.Lock(), threading.Barrier(3)

    def work(name: str) -> str:
        with lock:
            seen[0] += 1
            seen[1] = max(seen)
        meet.wait(60)
        with lock:
            seen[0] -= 1
        return name

    assert sorted(do_at_once(one_by_one("abcdef"), work, most=3, until=never)) == [*"abcdef"]
    assert seen == [0, 3]


def test_a_worker_that_fails_ends_its_own_work_only(caplog: pytest.LogCaptureFixture):
    def work(name: str) -> str:
        if name == "b":
            raise ValueError("an odd value")
        return name

    assert sorted(do_at_once(one_by_one("abc"), work, most=2, until=never)) == ["a", "c"]
    assert "work in a thread failed" in caplog.text


def test_who_is_told_to_end_does_not_wait_for_what_hangs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(at_once, "PATIENCE", 0.1)
    free, ending = threading.Event(), threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            free.wait(60)
        return name

    done = do_at_once(one_by_one(["slow", "a"]), work, most=2, until=ending.is_set)
    assert next(done) == "a"
    ending.set()
    assert list(done) == []
    free.set()


def test_what_is_nearly_done_is_told_before_the_end():
    begun, ending = threading.Event(), threading.Event()

    def work(name: str) -> str:
        begun.set()
        ending.wait(60)
        return name

    def until() -> bool:
        if begun.is_set():
            ending.set()
        return ending.is_set()

    assert list(do_at_once(one_by_one(["a"]), work, most=2, until=until)) == ["a"]


def test_a_database_that_is_away_is_the_callers_once_nothing_runs():
    meet = threading.Barrier(2)
    answers: list[object] = ["a", OperationalError("away"), OperationalError("away")]

    def claim(running: Sequence[str]) -> str | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            if running:
                meet.wait(60)
            raise answer
        return str(answer)

    def work(name: str) -> str:
        meet.wait(60)
        return name

    done = do_at_once(claim, work, most=2, until=never)
    assert next(done) == "a"
    with pytest.raises(OperationalError):
        next(done)


@pytest.mark.django_db(transaction=True)
def test_each_thread_has_its_own_connection_and_closes_it():
    def backend(name: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    backends = [*do_at_once(one_by_one("abc"), backend, most=2, until=never)]
    assert len(set(backends)) == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone()[0] not in backends
        for _ in range(100):  # PostgreSQL ends a session a moment after its client left
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [backends])
            if not cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)")
    pytest.fail("a thread left its connection open")
