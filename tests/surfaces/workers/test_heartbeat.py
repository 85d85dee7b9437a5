import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from surfaces.models import Worker
from surfaces.workers import heartbeat
from surfaces.workers.heartbeat import Heartbeat, clear_away
from surfaces.workers.status import worker_groups
from tests.factories import NOON

HOST = socket.gethostname()[:60]


def make_worker(**given: Any) -> Worker:
    ordinary = {"kind": "watcher", "name": "watcher", "host": HOST, "pid": os.getpid(),
                "started_at": NOON, "beat_at": NOON}  # fmt: skip
    return Worker.objects.create(**(ordinary | given))


def of(kind: str, now: Any = NOON) -> Any:
    return next(each for each in worker_groups(Worker.objects.all(), now) if each.kind == kind)


@pytest.fixture
def beat() -> Heartbeat:
    return Heartbeat("watcher", clock=lambda: NOON)


# ── the row ───────────────────────────────────────────────────────────────


@pytest.mark.django_db
def test_a_sign_of_life_is_one_row_and_one_statement_however_often(beat: Heartbeat):
    with CaptureQueriesContext(connection) as asked:
        beat.tell()
        beat.clock = lambda: NOON + timedelta(seconds=10)
        beat.tell()
    assert len(asked) == 2
    row = Worker.objects.get()
    assert (row.kind, row.host, row.pid) == ("watcher", HOST, os.getpid())
    assert row.beat_at - row.started_at == timedelta(seconds=10)


@pytest.mark.django_db
def test_it_says_what_it_does_and_since_when(beat: Heartbeat):
    beat.doing("reads accounts")
    beat.clock = lambda: NOON + timedelta(seconds=40)
    beat.tell()
    row = Worker.objects.get()
    assert (row.doing, row.doing_since) == ("reads accounts", NOON)
    assert of("watcher", beat.clock()).busy == [row]
    beat.doing("")
    beat.tell()
    assert Worker.objects.get().doing == ""


@pytest.mark.django_db
def test_what_is_over_at_once_is_not_called_busy(beat: Heartbeat):
    beat.doing("reads accounts")
    beat.tell()
    assert not of("watcher").busy


@pytest.mark.django_db
def test_who_is_not_heard_for_half_a_minute_is_silent_since_the_last_beat():
    row = make_worker()
    assert of("watcher", NOON + timedelta(seconds=30)).up == [row]
    later = NOON + timedelta(seconds=31)
    assert of("watcher", later).silent_since == NOON
    assert not of("watcher", later).up
    assert [*Worker.objects.silent(later)] == [row]


@pytest.mark.django_db
def test_who_left_a_day_ago_is_forgotten():
    make_worker(host="elsewhere", kind="sender", beat_at=NOON - timedelta(days=1, seconds=1))
    stays = make_worker(host="elsewhere", kind="sender", pid=2, beat_at=NOON - timedelta(hours=23))
    clear_away("watcher", HOST, now=NOON)
    assert [*Worker.objects.all()] == [stays]


@pytest.mark.django_db
def test_a_new_process_takes_the_place_of_one_that_was_killed():
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    make_worker(pid=int(gone.stdout))
    elsewhere, runs = make_worker(host="elsewhere", pid=int(gone.stdout)), make_worker(pid=1)
    clear_away("watcher", HOST, now=NOON)
    assert {*Worker.objects.all()} == {elsewhere, runs}


@pytest.mark.django_db
def test_every_kind_has_its_line_though_nothing_runs():
    assert [(each.kind, each.of) for each in worker_groups([], NOON)] == [
        ("web", 0), ("watcher", 0), ("sender", 0), ("replier", 0), ("agents", 0), ("tasks", 0)
    ]  # fmt: skip


# ── the thread ────────────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)
def test_the_row_is_there_while_the_work_runs_and_goes_with_it(monkeypatch: Any):
    monkeypatch.setattr(heartbeat, "EVERY", 0.05)
    with heartbeat.alive("sender", clock=lambda: NOON) as beat:
        beat.doing("sends")
        _wait(lambda: Worker.objects.filter(kind="sender", doing="sends").exists())
    assert not Worker.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_stops_neither_the_work_nor_the_beat(monkeypatch: Any):
    monkeypatch.setattr(heartbeat, "EVERY", 0.02)
    tries, tell = [0], Heartbeat.tell

    def fails_first(self: Heartbeat) -> None:
        tries[0] += 1
        if tries[0] < 4:
            raise OperationalError("the server is away")
        tell(self)

    monkeypatch.setattr(Heartbeat, "tell", fails_first)
    with heartbeat.alive("sender", clock=lambda: NOON):
        _wait(Worker.objects.exists)
    assert tries[0] >= 4


def test_work_never_waits_for_a_database_that_hangs(monkeypatch: Any):
    free = threading.Event()
    monkeypatch.setattr(heartbeat, "PATIENCE", 0.05)
    monkeypatch.setattr(heartbeat, "clear_away", lambda *given, **more: free.wait(20))
    monkeypatch.setattr(Heartbeat, "tell", lambda self: None)
    monkeypatch.setattr(Heartbeat, "forget", lambda self: None)
    began = time.monotonic()
    with heartbeat.alive("sender", clock=lambda: NOON) as beat:
        beat.doing("sends")
    assert time.monotonic() - began < 5
    free.set()
    assert beat._thread
    beat._thread.join(20)


# ── real processes ────────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)
def test_a_loop_beats_until_it_is_told_to_stop_and_a_killed_one_stays_silent():
    stopped, killed = _loop("watch"), _loop("deliver")
    try:
        _wait(lambda: Worker.objects.count() == 2)
        stopped.send_signal(signal.SIGTERM)
        stopped.wait(20)
        killed.kill()
        killed.wait(20)
    finally:
        for process in (stopped, killed):
            process.kill()
    left = Worker.objects.get()
    assert (left.kind, left.pid) == ("sender", killed.pid)
    assert of("sender", left.beat_at + timedelta(minutes=1)).silent == [left]


def _loop(command: str) -> subprocess.Popen[bytes]:
    name = connection.settings_dict["NAME"]
    start = f"from django.conf import settings; settings.DATABASES['default']['NAME'] = {name!r}"
    code = (
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings';"
        f"{start}; django.setup();"
        f"from django.core.management import call_command; call_command({command!r})"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)


def _wait(is_so: Callable[[], bool], patience: float = 20) -> None:
    end = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
