"""The whole program as a person starts it, on a folder and a port of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.config.postgres.holders import ROOT, Holder, clean

WEB = "config.processes.web"  # in the command line of the web process
SUSPECT = """
INSERT INTO messages (account_id, remote_id, parent_id, post_id, created_at, kind, author,
    author_id, direction, title, content, url, submolt, raw_json, reply_attempts, spam_status,
    spam_score, spam_reasons, fingerprint, reply_why, seen_at)
SELECT account_id, 'new-' || clock_timestamp()::text, parent_id, post_id, now(), kind, author,
    author_id, direction, title, content, url, submolt, raw_json, 0, 'suspect', 0.7,
    '[]', '', '{}', now()
FROM messages WHERE kind = 'comment' AND direction = 'incoming' LIMIT 1
"""


def environment(data: Path) -> dict[str, str]:
    """Ours, but with a database of its own."""
    elsewhere = ("DATABASE_URL", "DATABASE_OWNER_URL")
    given = {name: value for name, value in os.environ.items() if name not in elsewhere}
    return {**given, "COLLOQUY_DATA": str(data), "COLLOQUY_PG_FSYNC": "off", "LOG_LEVEL": "ERROR"}


class Running:
    """`manage.py run` as a person starts it, on a folder of its own."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.holder = Holder(data)
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "run", "--port", str(self.port)],
            cwd=ROOT,
            env=environment(data),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = self.read_until("ready after")
        self.password = re.search(r"password   (\S+)", said)[1]
        self.name = re.search(r"operator   (\S+)", said)[1]
        self.cookie = self.sign_in()

    def read_until(self, words: str) -> str:
        said = ""
        for line in self.process.stdout:
            said += line
            if words in line:
                return said
        raise AssertionError(said)

    def sign_in(self) -> str:
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}") as browser:
            browser.get("/sign-in")
            browser.post("/sign-in", data={
                "username": self.name, "password": self.password,
                "csrfmiddlewaretoken": browser.cookies["csrftoken"],
            })  # fmt: skip
            return browser.cookies["sessionid"]

    def get(self, path: str) -> httpx.Response:
        cookies = {"sessionid": self.cookie}
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", cookies=cookies, timeout=20)

    def web(self) -> psutil.Process:
        children = psutil.Process(self.process.pid).children()
        return next(each for each in children if WEB in " ".join(each.cmdline()))

    def resident(self) -> int:
        """Bytes of memory that the web workers hold for themselves."""
        return sum(worker.memory_full_info().uss for worker in self.web().children())

    def store_suspect(self) -> float:
        moment = time.monotonic()
        self.holder.query(SUSPECT)
        return moment

    def stop(self) -> tuple[float, float]:
        """Press Ctrl-C; return how long the web processes took to end, and all of it."""
        web, begun = self.web(), time.monotonic()
        self.process.send_signal(signal.SIGINT)
        web.wait(20)
        took = time.monotonic() - begun
        self.process.communicate(timeout=20)
        return took, time.monotonic() - begun


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="colloquy-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    clean(folder)


@pytest.fixture(scope="module")
def running(data: Path) -> Iterator[Running]:
    """One for all tests of a file; the last of them may stop it."""
    program = Running(data)
    yield program
    if program.process.poll() is None:
        program.stop()


def eventually(what: Callable[[], Any], seconds: float = 30) -> Any:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")
