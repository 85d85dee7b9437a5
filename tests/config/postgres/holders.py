"""Processes that join the embedded server, and ways to see and to kill all that belongs to it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import psutil
import psycopg

ROOT = Path(__file__).resolve().parents[3]
# Joins, says where, and joins again for each line it reads. Ends with its input.
HOLD = """
import os, sys, time
from pathlib import Path
from config.postgres import embedded
is_safe = sys.argv[2] == "safe"
try:
    print(embedded.join(Path(sys.argv[1]), is_safe=is_safe)["HOST"], flush=True)
    for line in sys.stdin:
        if line == "fork\\n" and os.fork() == 0:
            os.closerange(0, 3)
            time.sleep(600)
        print(embedded.join(Path(sys.argv[1]), is_safe=is_safe)["HOST"], flush=True)
except embedded.EmbeddedFailed as error:
    sys.exit(str(error))
"""


class Holder:
    """A process of its own that has joined."""

    all: ClassVar[list["Holder"]] = []

    def __init__(self, data: Path, *, safe: bool = False, waits: bool = True) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(data), "safe" if safe else "hasty"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        Holder.all.append(self)
        self.host = self.line() if waits else ""

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def say(self, word: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.line()

    def leave(self) -> str:
        """End in good order; return what it complained about."""
        return self.process.communicate(timeout=30)[1].strip()

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def query(self, sql: str, *, user: str = "colloquy") -> str:
        with psycopg.connect(
            host=self.host, user=user, dbname="colloquy", autocommit=True
        ) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return str(cursor.fetchone()[0]) if cursor.description else ""


def clean(folder: Path) -> None:
    while Holder.all:
        Holder.all.pop().kill()
    home = (folder / "pg").resolve()
    kill([*keepers(home), *servers(home)])
    shutil.rmtree(home, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def started_with(words: str) -> list[int]:
    running = psutil.process_iter(["pid", "cmdline"])
    return [one.pid for one in running if words in " ".join([*(one.info["cmdline"] or []), ""])]


def keepers(home: Path) -> list[int]:
    return started_with(f"config.postgres.keeper {home} ")


def servers(home: Path) -> list[int]:
    return started_with(f"postgres -D {home}/cluster ")


def kill(pids: list[int]) -> None:
    """Kill, and return when the kernel has taken everything back."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not any(map(_lives, pids)))


def _lives(pid: int) -> bool:
    """A process is a zombie as soon as its first thread is; the last one gives the locks back."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
    return False


def eventually(is_so: Callable[[], object], seconds: float = 40) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
