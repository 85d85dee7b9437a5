"""Two hundred clients that never finish a request, and an operator who works."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytestmark = [pytest.mark.story, pytest.mark.xdist_group("crash")]
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
