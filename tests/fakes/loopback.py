"""What every fake stands on: an HTTP server on this machine, in threads of its own."""

from __future__ import annotations

import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SO_LINGER, SOL_SOCKET
from threading import Event, Thread
from typing import Any, Self


class Loopback:
    """Serves from `start` to `stop`; its handlers find it at `self.server.fake`."""

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.closing = Event()  # ends the waiting of whoever keeps a caller waiting
        self._server = Server((host, port), handler)
        self._server.fake = self
        self.host, self.port = host, self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, args=[0.01], daemon=True)

    @property
    def root(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    block_on_close = False
    fake: Any  # the `Loopback` that it serves

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class Handler(BaseHTTPRequestHandler):
    """Keeps connections open, says nothing on the terminal, and can hang up."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        return None

    def break_off(self) -> None:
        """Reset the connection: no answer, not even a goodbye."""
        self.close_connection = True
        self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
