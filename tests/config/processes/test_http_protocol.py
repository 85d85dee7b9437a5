"""What one client may hold: time and size of headers, and connections."""

from __future__ import annotations

import socket
import time

import pytest

from config.processes.http_protocol import MAX_HEADERS
from tests.config.processes.server import serving, until

ASKED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def app(environ, start_response):
    start_response("200 OK", [])
    return [b"words"]


@pytest.mark.parametrize("words", [b"", b"G", b"GET / HTTP/1.1\r\nX-Half"])
def test_headers_that_do_not_come_end_the_connection_in_time(words):
    with serving(app, headers_seconds=0.2) as server:
        begun = time.monotonic()
        server.client(words).rest()
        assert time.monotonic() - begun < 4  # before a connection at rest is closed


def test_headers_of_a_second_request_have_no_more_time():
    with serving(app, headers_seconds=0.2) as server:
        client = server.client(ASKED)
        client.read_until(b"words")
        begun = time.monotonic()
        client.say(b"GET")
        client.rest()
        assert time.monotonic() - begun < 4


def test_headers_that_come_letter_by_letter_get_no_more_time():
    with serving(app, headers_seconds=0.3) as server:
        slow = server.client(b"GET / HTTP/1.1\r\nX: ")

        def is_closed() -> bool:
            try:
                slow.say(b"x")
            except ConnectionError:
                return True
            return False

        until(is_closed)


@pytest.mark.parametrize(
    "words",
    [
        b"GET /" + b"x" * (MAX_HEADERS + 1) + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * (MAX_HEADERS + 1) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X-Many: x\r\n" * 10_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 400_000,  # without an end
    ],
)
def test_headers_without_measure_are_refused(words):
    with serving(app) as server:
        assert server.client(words).rest().startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "words",
    [b"\x16\x03\x01\x02", b"GET\r\n\r\n", b"GET http://[ HTTP/1.1\r\n\r\n", b"!!\r\n"],
)
def test_what_is_no_request_is_refused(words):
    with serving(app) as server:
        assert server.client(words).rest().startswith(b"HTTP/1.1 400 ")


def test_an_upgrade_that_is_not_offered_is_an_ordinary_request():
    with serving(app) as server:
        asked = b"Connection: upgrade\r\nUpgrade: websocket\r\n"
        client = server.client(b"GET / HTTP/1.1\r\nHost: a\r\n" + asked + b"\r\n")
        assert b"200 OK" in client.read_until(b"words")


def test_requests_sent_at_once_are_answered_in_their_order():
    with serving(app) as server:
        last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        assert server.client(ASKED * 4 + last).rest().count(b"words") == 5


def test_beyond_the_most_connections_the_one_that_waited_longest_goes():
    with serving(app, max_connections=5) as server:
        state = server.server.server_state
        waiting = []
        for number in range(5):
            waiting.append(server.client(b"GET / HT"))
            until(lambda number=number: len(state.connections) == number + 1)
        assert b"200 OK" in server.client(ASKED).read_until(b"words")
        assert waiting[0].rest() == b""
        waiting[4].say(b"TP/1.1\r\nHost: a\r\n\r\n")
        assert b"200 OK" in waiting[4].read_until(b"words")


def test_a_body_does_not_wait_until_its_head_is_acknowledged():
    with serving(app) as server:
        server.client(ASKED).read_until(b"words")
        [connection] = server.server.server_state.connections
        held = connection.transport.get_extra_info("socket")
        assert held.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
