"""uvicorn's HTTP protocol with bounds on what one client may hold.

uvicorn bounds neither the time nor the size of the headers, nor how long an answer may stay unread.
"""

import asyncio
import socket
from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADERS_SECONDS = 10.0  # from the first byte, or from the connection on
UNREAD_SECONDS = 60.0  # how long an answer may wait for a client that reads nothing
MAX_HEADERS = 64 * 1024  # bytes of request line and headers

# Connections without a whole request, the one that has waited longest first.
_waiting: dict["BoundedProtocol", None] = {}


class BoundedProtocol(HttpToolsProtocol):
    max_connections = 1000
    headers_seconds, unread_seconds = HEADERS_SECONDS, UNREAD_SECONDS

    def __init__(self, *args: Any, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self._is_in_body = False
        self._unparsed = self._parsed = 0  # bytes of headers
        self._headers_timer: TimerHandle | None = None
        self._unread_timer: TimerHandle | None = None

    # ── the connection ────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Or the body waits 40 ms for the client to acknowledge the head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _waiting[self] = None
        if len(self.connections) > self.max_connections:
            oldest = next(iter(_waiting))
            del _waiting[oldest]
            oldest.transport.abort()
        self._start_headers_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        _waiting.pop(self, None)
        for timer in (self._headers_timer, self._unread_timer, self.timeout_keep_alive_task):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server ends: an unfinished request and an endless answer are not waited for."""
        cycle = self._open_cycle()
        if cycle and (cycle.more_body or cycle.scope["state"].get("is_async_body")):
            self.transport.abort()
        else:
            super().shutdown()

    def _open_cycle(self) -> RequestResponseCycle | None:
        """The request that is being answered, or read."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle if cycle is not None and not cycle.response_complete else None

    # ── requests ──────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._open_cycle() or self.transport.is_closing():
            return
        self._start_headers_timer()
        if not self._is_in_body:
            self._unparsed += len(data)
        if self._unparsed > MAX_HEADERS:
            self.send_400_response("The headers of the request are too long.")

    def on_message_begin(self) -> None:
        self._parsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        if not self._is_in_body:  # what follows a body must not pass for a header
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None
        self._unparsed, self._is_in_body = 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_body = False
        _waiting.pop(self, None)
        super().on_message_complete()

    def _count(self, many: int) -> None:
        self._parsed += many
        if self._parsed > MAX_HEADERS:
            raise ValueError("too long")  # answered with 400

    def _start_headers_timer(self) -> None:
        if self._headers_timer is None:
            self._headers_timer = self.loop.call_later(self.headers_seconds, self.transport.abort)

    # ── answers ───────────────────────────────────────────────────────────

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline:
            _waiting[self] = None
        self._abort_unread()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._abort_unread()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_unread_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _abort_unread(self) -> None:
        """A closed transport waits for its client without end."""
        if self.transport.is_closing() and self.transport.get_write_buffer_size():
            self._start_unread_timer()

    def _start_unread_timer(self) -> None:
        if self._unread_timer is None:
            self._unread_timer = self.loop.call_later(self.unread_seconds, self.transport.abort)
