"""Two hundred browsers listen to the real program, and are told."""

from __future__ import annotations

import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from config.processes.supervisor import PATIENCE
from tests.config.postgres.holders import ROOT, Holder, clean, kill, servers
from tests.stories.listeners import Listeners

pytestmark = [pytest.mark.story, pytest.mark.xdist_group("crash")]
BROWSERS = 200
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
        return next(each for each in children if "gunicorn" in " ".join(each.cmdline()))

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


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="colloquy-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    clean(folder)


@pytest.fixture
def running(data: Path) -> Iterator[Running]:
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


def everybody_is_told(browsers: Listeners, since: float, within: float) -> list[float]:
    took = eventually(lambda: len(got := browsers.told(since)) == BROWSERS and got, within + 20)
    print(f"told: median {statistics.median(took):.3f} s, last {max(took):.3f} s")
    assert max(took) < within
    return took


def test_two_hundred_browsers_are_told_within_two_seconds(running, data):
    for _ in range(20):  # as warm as in daily use
        running.get("/")
    bare = running.resident()
    with Listeners(running.port, running.cookie, BROWSERS) as browsers:
        eventually(lambda: len([each for each in browsers.held if each.last]) == BROWSERS)
        more = running.resident() - bare
        print(f"memory per browser: {more / BROWSERS / 1024:.1f} KiB ({more / 1e6:.1f} MB in all)")
        assert more / BROWSERS < 64 * 1024

        time.sleep(1.1)  # calm
        everybody_is_told(browsers, running.store_suspect(), within=2)

        slowest = max(running.get(page).elapsed.total_seconds() for page in ["/", "/messages/"] * 5)
        print(f"slowest page meanwhile: {slowest:.3f} s")
        assert slowest < 2
        connections = running.holder.query(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'colloquy web'"
        )
        assert int(connections) <= 2 * 8 + 2  # one per thread, and one per process that listens

        restart(running, data)
        eventually(lambda: running.get("/live/now").status_code == 200, 60)
        since = running.store_suspect()
        everybody_is_told(browsers, since, within=15)

        held = len(browsers.held)
        took, altogether = running.stop()
        print(f"Ctrl-C with {held} streams: web ended in {took:.2f} s, all in {altogether:.2f} s")
        assert held == BROWSERS
        assert took < PATIENCE  # what still lives then is killed; nothing here had to be
        eventually(lambda: not browsers.held)


def restart(running: Running, data: Path) -> None:
    """Have the database killed; whoever connects next starts it again."""
    kill(servers(data / "pg"))
    eventually(lambda: connects(running), 60)


def connects(running: Running) -> bool:
    try:
        running.holder.host = running.holder.say("join")
        return running.holder.query("SELECT 1") == "1"
    except psycopg.OperationalError:
        return False
