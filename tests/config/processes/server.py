"""The web server on loopback, in a thread, around a small application."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uvicorn import Config, Server

from config.processes.http_protocol import BoundedProtocol
from config.processes.wsgi_pool import WSGIPool

PATIENCE = 20.0  # seconds


@contextmanager
def serving(app: Any, *, threads: int = 2, max_body: int = 1_000_000, body_seconds: float = 20,
            **bounds: Any) -> Iterator[Running]:  # fmt: skip
    """`bounds` are the attributes of the protocol, for tests that cannot wait a minute."""
    pool = WSGIPool(app, threads=threads, max_body=max_body, body_seconds=body_seconds)
    protocol = type("Protocol", (BoundedProtocol,), bounds)
    config = Config(
        pool, http=protocol, ws="none", lifespan="off", log_config=None, interface="asgi3",
        proxy_headers=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = Running(Server(config), pool, listening)
        try:
            yield running
        finally:
            running.stop()
            running.close()


class Running:
    def __init__(self, server: Server, pool: WSGIPool, listening: socket.socket) -> None:
        self.server, self.pool = server, pool
        self._clients: list[Client] = []
        self.port = listening.getsockname()[1]
        self._thread = threading.Thread(target=server.run, args=([listening],))
        self._thread.start()
        until(lambda: server.started)

    def stop(self) -> float:
        """End the server; return how long that took."""
        begun = time.monotonic()
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return time.monotonic() - begun

    def close(self) -> None:
        self.pool.close(lambda: None)
        for client in self._clients:
            client.sock.close()

    def client(self, words: bytes = b"", *, small: bool = False) -> Client:
        """A connection that said `words`; a small one leaves much of an answer to the server."""
        sock = socket.socket()
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(PATIENCE)
        sock.connect(("127.0.0.1", self.port))
        sock.sendall(words)
        self._clients.append(Client(sock))
        return self._clients[-1]

    def get(self, path: str = "/", headers: bytes = b"", method: bytes = b"GET") -> bytes:
        """The whole answer."""
        words = b"%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n"
        return self.client(words % (method, path.encode(), headers)).rest()


class Client:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def say(self, words: bytes) -> None:
        self.sock.sendall(words)

    def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        said = b""
        try:
            while part := self.sock.recv(65536):
                said += part
        except ConnectionError:
            pass
        self.sock.close()
        return said

    def read_until(self, words: bytes) -> bytes:
        said = b""
        while words not in said:
            part = self.sock.recv(65536)
            assert part, said
            said += part
        return said


def until(is_so: Any) -> None:
    ends_at = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < ends_at, "it never came"
        time.sleep(0.01)
