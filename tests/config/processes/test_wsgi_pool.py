"""Requests and answers between the event loop and the threads of pages."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc

import pytest

from config.processes import wsgi_pool
from surfaces.web.async_body import ASYNC_BODY
from tests.config.processes.server import serving, until

POST = b"POST /said HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"


class App:
    """Answers every request with `words`, and keeps what it was asked."""

    def __init__(self, words: bytes = b"words") -> None:
        self.words, self.environs, self.bodies, self.closed = words, [], [], []

    def __call__(self, environ, start_response):
        self.environs.append(environ)
        self.bodies.append(environ["wsgi.input"].read())
        start_response("200 OK", [("Content-Type", "text/plain")])
        return Parts(self)

    def __iter__(self):
        return iter([self.words])


class Parts:
    def __init__(self, app: App) -> None:
        self.app = app

    def __iter__(self):
        return iter(self.app)

    def close(self) -> None:
        self.app.closed.append(threading.current_thread().name)


def test_a_page_is_answered_with_its_length_and_closed_in_its_thread():
    app = App()
    with serving(app) as server:
        answer = server.get("/desk/%E6%BD%AE?q=%C3%A9")
    assert b"HTTP/1.1 200 OK" in answer
    assert b"content-length: 5\r\n" in answer
    assert answer.endswith(b"\r\n\r\nwords")
    [environ] = app.environs
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/desk/潮"
    assert environ["QUERY_STRING"] == "q=%C3%A9"
    assert [name.startswith("page") for name in app.closed] == [True]


def test_head_has_the_length_and_no_words():
    with serving(App()) as server:
        answer = server.get(method=b"HEAD")
    assert b"content-length: 5\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_a_request_without_its_body_takes_no_thread():
    app = App()
    with serving(app, threads=1) as server:
        slow = [server.client(POST + b"Content-Length: 9\r\n\r\nhalf") for _ in range(20)]
        assert server.get().endswith(b"words")
        slow[0].say(b" done")
        assert slow[0].rest().endswith(b"words")
    assert app.bodies == [b"", b"half done"]


def test_an_answer_that_nobody_reads_takes_no_thread():
    app = App(b"x" * 20_000_000)
    with serving(app, threads=1) as server:
        asked = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        unread = [server.client(asked, small=True) for _ in range(3)]
        until(lambda: len(app.closed) == 3)
        app.words = b"words"
        assert server.get().endswith(b"words")
        for client in unread:
            client.sock.close()
        until(lambda: not server.server.server_state.connections)


def test_an_answer_that_nobody_reads_is_given_up_in_time():
    with serving(App(b"x" * 20_000_000), unread_seconds=0.2) as server:
        unread = server.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", small=True)
        until(lambda: server.server.server_state.connections)
        until(lambda: not server.server.server_state.connections)
        assert len(unread.rest()) < 20_000_000


def test_a_body_that_does_not_come_is_refused_in_time():
    app = App()
    with serving(app, body_seconds=0.2) as server:
        answer = server.client(POST + b"Content-Length: 9\r\n\r\nhalf").rest()
    assert b"408 Request Timeout" in answer
    assert answer.endswith(wsgi_pool.TOO_SLOW)
    assert app.environs == []


def test_a_client_that_leaves_before_its_body_is_there_reaches_no_page():
    app = App()
    with serving(app) as server:
        leaving = server.client(POST + b"Content-Length: 9\r\n\r\nhalf")
        until(lambda: server.server.server_state.tasks)
        leaving.sock.close()
        until(lambda: not server.server.server_state.tasks)
    assert app.environs == []


def test_a_long_body_is_kept_in_a_file_and_not_in_memory():
    app = App()
    app.__class__ = type("Counting", (App,), {"__call__": counts})
    tracemalloc.start()
    try:
        with serving(app, max_body=30_000_000) as server:
            client = server.client(POST + b"Content-Length: 20000000\r\n\r\n")
            for _ in range(200):
                client.say(b"x" * 100_000)
            assert client.rest().endswith(b"words")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert app.bodies == [20_000_000]
    assert peak < 5_000_000


def counts(self, environ, start_response):
    found, body = 0, environ["wsgi.input"]
    while part := body.read(10_000):
        found += len(part)
    self.bodies.append(found)
    start_response("200 OK", [])
    return [self.words]


def test_a_body_in_chunks_has_a_length_for_the_page():
    app = App()
    with serving(app) as server:
        server.client(
            POST + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n5\r\n done\r\n0\r\n\r\n"
        ).rest()
    assert (app.bodies, app.environs[0]["CONTENT_LENGTH"]) == ([b"half done"], "9")


@pytest.mark.parametrize(
    "body", [b"Content-Length: 3000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n2DC6C0\r\n"]
)
def test_a_body_beyond_the_limit_is_not_read_and_its_length_says_so(body):
    app = App()
    with serving(app, max_body=10_000) as server:
        client = server.client(POST + body + b"x" * 20_000)
        assert b"200 OK" in client.read_until(b"words")
    assert int(app.environs[0]["CONTENT_LENGTH"]) > 10_000
    assert len(app.bodies[0]) < 3_000_000


def test_a_header_cannot_pass_for_another():
    app = App()
    with serving(app) as server:
        server.get(headers=b"X_Forwarded_Proto: https\r\nX-Real: 1\r\nX-Real: 2\r\n")
        server.client(
            POST + b"Transfer-Encoding: chunked\r\nTrailer: X-Forwarded-Proto\r\n\r\n"
            b"1\r\nx\r\n0\r\nX-Forwarded-Proto: https\r\n\r\n"
        ).rest()
    assert ["HTTP_X_FORWARDED_PROTO" in each for each in app.environs] == [False, False]
    assert app.environs[0]["HTTP_X_REAL"] == "1,2"


def test_a_proxy_on_this_machine_says_that_its_client_used_https():
    app = App()
    with serving(app) as server:
        server.get(headers=b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 198.51.100.7\r\n")
        server.get(headers=b"X-Forwarded-Proto: ftp\r\n")
    assert [each["wsgi.url_scheme"] for each in app.environs] == ["https", "http"]
    assert app.environs[0]["REMOTE_ADDR"] == "127.0.0.1"


def streams(environ, start_response):
    async def rest(write, gone):
        gone.add_done_callback(lambda _: LEFT.set())
        await write(b"second ")
        await asyncio.wait({gone})

    environ[ASYNC_BODY].append(rest)
    start_response("200 OK", [("Content-Type", "text/event-stream")])
    return [b"first "]


LEFT = threading.Event()


def test_bodies_of_the_event_loop_hold_no_thread_and_end_with_their_client():
    LEFT.clear()
    asked = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    with serving(streams, threads=1) as server:
        clients = [server.client(asked) for _ in range(20)]
        for client in clients:
            client.read_until(b"second ")
        clients[0].sock.close()
        assert LEFT.wait(20)


def test_a_server_that_ends_waits_neither_for_endless_nor_for_unfinished_requests():
    with serving(streams) as server:
        server.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").read_until(b"second ")
        unfinished = (b"", b"GET / HT", POST + b"Content-Length: 9\r\n\r\n")
        held = [server.client(words) for words in unfinished]
        until(lambda: len(server.server.server_state.connections) == 4)
        assert server.stop() < 1.5
        assert [each.rest() for each in held] == [b"", b"", b""]


def test_threads_end_their_connections_each_once():
    names = []
    pool = wsgi_pool.WSGIPool(App(), threads=4, max_body=1)
    pool.close(lambda: names.append(threading.current_thread().name))
    assert len(names) == len(set(names)) == 4
