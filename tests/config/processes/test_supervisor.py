"""Real processes under a real supervisor."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config.processes.supervisor import Child, Process

ROOT = Path(__file__).resolve().parents[3]
SUPERVISE = """
import json, sys
from config.processes.supervisor import Process, Supervisor
processes = [Process(name=name, command=command) for name, command in json.loads(sys.argv[1])]
Supervisor(processes, lambda name, line: print(f"{name}|{line}", flush=True)).run()
"""
SLEEP = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
# A main process and its part, both of which say so when they are asked to end.
FAMILY = """
import os, signal, sys, time
who = b"main" if os.fork() else b"part"
def end(number, frame):
    os.write(1, who + b" was asked\\n")
    os._exit(0)
signal.signal(signal.SIGTERM, end)
os.write(1, b"up\\n")  # in one piece, as both write at once
time.sleep(600)
"""


class Supervised:
    def __init__(self, **codes: str) -> None:
        commands = [(name, [sys.executable, "-c", code]) for name, code in codes.items()]
        self.main = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE, json.dumps(commands)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.heard: list[str] = []

    def hear(self, *wanted: str) -> None:
        """Read on until all these lines have come."""
        assert self.main.stdout
        missing = list(wanted)
        while missing:
            line = self.main.stdout.readline()
            assert line, f"it ended before saying {missing}, after {self.heard}"
            self.heard.append(line.strip())
            missing = [words for words in missing if words not in line]

    def end(self, number: signal.Signals) -> tuple[float, list[str]]:
        """Return how long the end took, and what was said meanwhile."""
        began = time.monotonic()
        self.main.send_signal(number)
        rest = self.main.communicate(timeout=30)[0]
        return time.monotonic() - began, rest.splitlines()

    def everybody(self) -> list[psutil.Process]:
        return psutil.Process(self.main.pid).children(recursive=True)


@pytest.fixture
def supervise() -> Iterator[Callable[..., Supervised]]:
    started: list[Supervised] = []

    def start(**codes: str) -> Supervised:
        started.append(Supervised(**codes))
        return started[-1]

    yield start
    for one in started:
        with one.main:
            one.main.terminate()


def all_gone(processes: list[psutil.Process], within: float) -> bool:
    deadline = time.monotonic() + within
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_ctrl_c_ends_everything_within_five_seconds_even_the_stubborn(supervise):
    run = supervise(web=SLEEP, worker=STUBBORN)
    run.hear("web|up", "worker|up")
    everybody = run.everybody()

    seconds, _ = run.end(signal.SIGINT)
    assert seconds < 5
    assert run.main.returncode == 0
    assert all_gone(everybody, within=0)


def test_ctrl_c_ends_the_willing_at_once(supervise):
    run = supervise(web=SLEEP, sender=SLEEP)
    run.hear("web|up", "sender|up")
    seconds, _ = run.end(signal.SIGINT)
    assert seconds < 1


def test_only_main_processes_are_asked_and_what_they_leave_is_killed(supervise):
    run = supervise(worker=FAMILY)
    run.hear("worker|up")
    run.hear("worker|up")
    everybody = run.everybody()
    _, said = run.end(signal.SIGTERM)
    assert said == ["worker|main was asked"]
    assert all_gone(everybody, within=0.5)


def test_a_dead_child_is_started_again_and_what_it_left_is_cleared_away(supervise):
    run = supervise(worker=FAMILY)
    run.hear("worker|up")
    run.hear("worker|up")
    before = run.everybody()
    before[0].kill()

    run.hear("worker|was ended by SIGKILL; again in 1 s")
    assert all_gone(before, within=0.5)
    run.hear("worker|up")


def test_a_child_that_fails_says_how_and_its_last_words_come_first(supervise):
    run = supervise(web="import sys; print('no tables', end=''); sys.exit(3)")
    run.hear("web|ended with status 3; again in 1 s")
    assert run.heard == ["web|no tables", "web|ended with status 3; again in 1 s"]
    run.hear("web|ended with status 3; again in 2 s")


def test_who_dies_again_and_again_waits_longer_and_who_was_steady_does_not():
    child = Child(process=Process(name="web", command=[]))
    assert [child.wait_after_death(now=1) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert child.wait_after_death(now=100) == 1


def test_who_closes_the_terminal_ends_everything(supervise):
    run = supervise(web=SLEEP, worker=FAMILY)
    run.hear("web|up")
    run.hear("worker|up")
    everybody = run.everybody()
    run.main.stdout.close()
    run.main.send_signal(signal.SIGHUP)
    assert run.main.wait(timeout=5) == 0
    assert all_gone(everybody, within=0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent's death")
def test_a_killed_supervisor_takes_its_children_along(supervise):
    run = supervise(web=SLEEP, sender=SLEEP)
    run.hear("web|up", "sender|up")
    everybody = run.everybody()
    os.kill(run.main.pid, signal.SIGKILL)
    assert all_gone(everybody, within=2)
