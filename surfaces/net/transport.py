"""The transport of every synchronous HTTP client: one deadline and one bound on bytes per call.

The time runs from the lookup of the name to the last byte of the body, whatever arrives in
between. httpx has timeouts per read only: headers or 103 answers that trickle never meet them.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

import httpcore
import httpx

Find = Callable[[str, int, float], Sequence[str]]  # host, port, seconds: the addresses

LARGEST_HEAD = 256 * 1024  # bytes until the headers are complete, 1xx answers included
FRAMING = 2  # a body sent in small chunks takes several times its own bytes
IDLE = 5.0  # seconds that an unused connection is kept


@cache
def trusted_context() -> ssl.SSLContext:
    """The certificates we trust, read once: that takes longer than a request."""
    return httpx.create_ssl_context(trust_env=False)


def look_up(host: str, port: int, seconds: float) -> list[str]:
    """Resolve `host`, or raise `OSError` or `UnicodeError`; `TimeoutError` when time is over.

    The system's lookup takes no timeout, so it runs in a thread that may be left behind.
    """
    answers: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def look() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(answer[4][0]) for answer in found])
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            answers.put(error)

    threading.Thread(target=look, name="name lookup", daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise TimeoutError("the name was not resolved in time") from error
    if isinstance(found, Exception):
        raise found
    return found


def addresses_of(host: str, port: int, seconds: float) -> Sequence[str]:
    try:
        return [str(ip_address(host))]
    except ValueError:
        return look_up(host, port, seconds)


class Allowance(threading.local):
    """What is left of the time and the bytes of this thread's call."""

    def __init__(self) -> None:
        self._ends = 0.0
        self._bytes = 0

    def start(self, *, seconds: float, most_bytes: int) -> None:
        self._ends, self._bytes = time.monotonic() + seconds, most_bytes

    def allow(self, more_bytes: int) -> None:
        self._bytes += more_bytes

    def seconds(self, late: type[Exception], phase: float | None = None) -> float:
        """What is left, at most `phase`; raises `late` when nothing is."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise late("the time of the call is over")
        return left if phase is None else min(left, phase)

    def count(self, read: bytes) -> None:
        self._bytes -= len(read)
        if self._bytes < 0:
            raise httpcore.ReadError("the answer has too many bytes")


class DeadlineTransport(httpx.HTTPTransport):
    """Each call is over after `seconds`, and reads about `most_bytes` of body at most.

    `find` names the addresses to connect to. Threads may share it.
    """

    def __init__(
        self,
        *,
        seconds: float,
        most_bytes: int,
        find: Find = addresses_of,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        trust = trust or trusted_context()
        super().__init__(verify=trust, trust_env=False)
        self._seconds, self._most_bytes = seconds, most_bytes
        self._allowance = Allowance()
        self._pool = httpcore.ConnectionPool(
            ssl_context=trust,
            keepalive_expiry=IDLE,
            network_backend=_Backend(self._allowance, find),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._allowance.start(seconds=self._seconds, most_bytes=LARGEST_HEAD)
        response = super().handle_request(request)
        self._allowance.allow(FRAMING * self._most_bytes)
        return response


class _Backend(httpcore.NetworkBackend):
    """Connects to the found addresses, one after the other."""

    def __init__(self, allowance: Allowance, find: Find) -> None:
        self._allowance, self._find = allowance, find
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        late = httpcore.ConnectTimeout
        failure: Exception = httpcore.ConnectError("no address")
        try:
            addresses = self._find(host, port, self._allowance.seconds(late))
        except TimeoutError as error:
            raise late(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        for place, address in enumerate(addresses):
            share = self._allowance.seconds(late) / (len(addresses) - place)
            share = share if timeout is None else min(share, timeout)
            try:
                stream = self._system.connect_tcp(address, port, share, socket_options=[])
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._allowance)
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection on which every step gets what is left of the call."""

    def __init__(self, stream: httpcore.NetworkStream, allowance: Allowance) -> None:
        self._stream, self._allowance = stream, allowance

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._allowance.seconds(httpcore.ReadTimeout, timeout)
        read = self._stream.read(max_bytes, left)
        self._allowance.count(read)
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Not the stream's own method: its timeout begins anew with each piece that leaves.
        line, rest = self._stream.get_extra_info("socket"), memoryview(buffer)
        while rest:
            line.settimeout(self._allowance.seconds(httpcore.WriteTimeout, timeout))
            try:
                rest = rest[line.send(rest) :]
            except TimeoutError as error:
                raise httpcore.WriteTimeout(str(error)) from error
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._allowance.seconds(httpcore.ConnectTimeout, timeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, left)
        return _Stream(stream, self._allowance)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
