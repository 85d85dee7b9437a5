"""Two hundred clients of the real program: some never finish a request, others are told of news."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from config.processes.supervisor import PATIENCE
from tests.config.postgres.holders import kill, servers
from tests.stories.listeners import Listeners
from tests.stories.running import Running, eventually

pytestmark = pytest.mark.story
BROWSERS = 200
PAGES = ["/healthz", "/", "/desk/", "/messages/", "/drafts/", "/live/now"]
HALF_HEADERS = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half"
HALF_BODY = (
    b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername=mi"
)


@contextmanager
def unfinished(port: int, words: bytes, many: int) -> Iterator[list[socket.socket]]:
    clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(many)]
    for each in clients:
        each.sendall(words)
    try:
        yield clients
    finally:
        for each in clients:
            each.close()


def test_two_hundred_unfinished_requests_hold_no_page_up(running):
    for page in PAGES:  # as warm as in daily use
        assert running.get(page).status_code == 200
    with unfinished(running.port, HALF_HEADERS, 100), unfinished(running.port, HALF_BODY, 100):
        time.sleep(1)
        took = {
            page: max(running.get(page).elapsed.total_seconds() for _ in range(3)) for page in PAGES
        }
        print("slowest of three, in seconds:", took)
        assert max(took.values()) < 1


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
        assert int(connections) <= 2 * (8 + 2)  # one per thread for pages; one asks, one listens

        lose_their_stream(running)

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


def lose_their_stream(running: Running) -> None:
    """Whose session is ended."""
    cookie = running.sign_in()
    with Listeners(running.port, cookie, 20) as browsers:
        eventually(lambda: len([each for each in browsers.held if each.last]) == 20)
        moment = time.monotonic()
        running.holder.query(f"DELETE FROM surfaces_operatorsession WHERE session_key = '{cookie}'")
        eventually(lambda: not browsers.held)
        took = max(each.ended_at for each in browsers.all) - moment
    print(f"signed out: the last stream ended after {took:.3f} s")
    assert took < 2


def restart(running: Running, data) -> None:
    """Have the database killed; whoever connects next starts it again."""
    kill(servers(data / "pg"))
    eventually(lambda: connects(running), 60)


def connects(running: Running) -> bool:
    try:
        running.holder.host = running.holder.say("join")
        return running.holder.query("SELECT 1") == "1"
    except psycopg.OperationalError:
        return False
