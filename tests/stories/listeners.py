"""Many browsers that hold a stream open, all in one thread, and what each was told when."""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from typing import Any

TOLD = re.compile(rb"event: now\ndata: (.*)\n\n")


class Listener:
    def __init__(self, port: int, cookie: str) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.sock.sendall(
            f"GET /live HTTP/1.1\r\nHost: localhost\r\nCookie: sessionid={cookie}\r\n"
            "Accept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n".encode()
        )
        self.received = b""
        self.ended_at = 0.0
        self.arrivals: list[tuple[float, bytes]] = []  # moment, what was said

    @property
    def status(self) -> int:
        return int(self.received[9:12] or 0)

    @property
    def last(self) -> bytes:
        said = TOLD.findall(self.received)
        return said[-1] if said else b""


class Listeners:
    """`with Listeners(port, cookie, 200) as browsers: …`"""

    def __init__(self, port: int, cookie: str, many: int) -> None:
        self.all = [Listener(port, cookie) for _ in range(many)]
        self._selector = selectors.DefaultSelector()
        for each in self.all:
            self._selector.register(each.sock, selectors.EVENT_READ, each)
        self._is_over = False
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def __enter__(self) -> Listeners:
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over = True
        self._thread.join()
        for each in self.all:
            each.sock.close()

    def _hear(self) -> None:
        while not self._is_over:
            for key, _ in self._selector.select(0.1):
                each: Listener = key.data
                try:
                    more = each.sock.recv(65536)
                except ConnectionError:
                    more = b""
                moment = time.monotonic()
                if not more:
                    each.ended_at = moment
                    self._selector.unregister(each.sock)
                each.received += more
                if b"event: now" in more:
                    each.arrivals.append((moment, more))

    @property
    def held(self) -> list[Listener]:
        return [each for each in self.all if each.status == 200 and not each.ended_at]

    def told(self, since: float) -> list[float]:
        """Seconds until each was first told something after `since`."""
        firsts = (next((at for at, _ in each.arrivals if at > since), None) for each in self.all)
        return [at - since for at in firsts if at is not None]
