"""All open event streams of this web process, served by one thread.

The web server's worker hands a request's socket over as soon as its headers are out
(`config.processes.gunicorn_worker`), so a stream costs a socket and a few hundred bytes, no thread
and no connection to the database.
"""

import logging
import selectors
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue

from django.conf import settings
from django.utils import timezone

from surfaces.live.authorization import authorization
from surfaces.live.listener import LOST, Listener
from surfaces.live.snapshot import snapshot
from surfaces.operators.scope import Scope

PING_EVERY, TELL_EVERY, LASTS, IDLE, TICK = 15.0, 1.0, 600.0, 60.0, 0.2  # seconds
log = logging.getLogger(__name__)
PING = b": still here\n\n"


@dataclass(eq=False, slots=True, kw_only=True)
class Stream:
    """One open stream."""

    operator: int
    session: str
    reach: Scope
    sock: socket.socket = field(init=False)
    ends_at: float = field(init=False)
    told: bytes = b""

    @property
    def place(self) -> tuple[int, str]:
        return self.operator, self.session


class Streams:
    def __init__(
        self,
        most: int,
        *,
        ping_every: float = PING_EVERY,
        lasts: float = LASTS,
        clock: Callable[[], datetime] = timezone.now,
    ) -> None:
        self.most, self.ping_every, self.lasts, self.clock = most, ping_every, lasts, clock
        self.open: set[Stream] = set()
        self.listening = Listener()
        self._arrivals: SimpleQueue[tuple[Stream, socket.socket]] = SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._ear, self._bell = socket.socketpair()
        for end in (self._ear, self._bell):
            end.setblocking(False)
        self._selector.register(self._ear, selectors.EVENT_READ)
        self._is_stopping = self._is_news = False
        self._told_at = self._ping_at = self._idle_since = time.monotonic()
        self.thread = threading.Thread(target=self._run, name="live", daemon=True)

    # ── from other threads ────────────────────────────────────────────────

    @property
    def has_room(self) -> bool:
        return len(self.open) + self._arrivals.qsize() < self.most

    def take(self, stream: Stream, sock: socket.socket) -> None:
        """From now on the socket is ours to write to, and to close."""
        self._arrivals.put((stream, sock))
        self._ring()

    def stop(self) -> None:
        """End every stream. Takes no lock: a signal handler may call it."""
        self._is_stopping = True
        self._ring()

    def _ring(self) -> None:
        with suppress(OSError):  # full: then it is ringing already
            self._bell.send(b"!")

    # ── the thread ────────────────────────────────────────────────────────

    def _run(self) -> None:
        while not self._is_stopping:
            try:
                self._turn()
            except Exception:  # whatever it is, the next browsers shall be served
                log.exception("live: every stream is ended, browsers come back")
                self._end(*self.open)
                self._lose()
        self._end(*self.open)
        self._lose()
        for end in (self._selector, self._ear, self._bell):
            end.close()

    def _turn(self) -> None:
        is_idle = not self.open and self.listening.fd is None
        for key, _ in self._selector.select(None if is_idle else TICK):
            if key.fileobj is self._ear:
                self._ear.recv(4096)
            elif key.data is not None and _has_left(key.data):
                self._end(key.data)
        self._seat()
        moment = time.monotonic()
        try:
            self._listen(moment)
            if moment >= self._ping_at:
                self._ping(moment)
            is_due = self._is_news and moment >= self._told_at + TELL_EVERY
            if is_due and self.listening.fd is not None:
                self._tell(moment)
        except LOST as error:
            self._lose(error)

    def _seat(self) -> None:
        with suppress(Empty):
            while True:
                stream, sock = self._arrivals.get_nowait()
                stream.sock = sock
                stream.ends_at = time.monotonic() + self.lasts
                stream.sock.setblocking(False)
                self._selector.register(stream.sock, selectors.EVENT_READ, stream)
                self.open.add(stream)
                self._is_news = True

    def _listen(self, moment: float) -> None:
        """Keep a connection while streams are open, and process its notifications."""
        if self.listening.fd is not None:
            self._is_news |= self.listening.heard()
        elif self.open and moment >= self.listening.try_at:
            self._selector.register(self.listening.open(), selectors.EVENT_READ)
            self._is_news = True  # whatever was missed

    def _lose(self, error: Exception | None = None) -> None:
        if self.listening.fd is not None:
            self._selector.unregister(self.listening.fd)
        self.listening.lose(error)

    def _ping(self, moment: float) -> None:
        """Close expired and unauthorised streams; send a ping to the others."""
        self._ping_at = moment + self.ping_every
        self._end(*(stream for stream in self.open if stream.ends_at <= moment))
        self._send(self.open, PING)
        if self.open:
            self._idle_since = moment
        if self.listening.fd is None:
            return
        if moment - self._idle_since > IDLE:
            self._lose()
            return
        allowed = authorization((stream.place for stream in self.open), self.clock())
        self._end(*(stream for stream in self.open if stream.place not in allowed))
        for stream in self.open:
            stream.reach = allowed[stream.place]
        self._is_news = True  # what was put off may be due again

    def _tell(self, moment: float) -> None:
        """Send a snapshot to the streams whose page differs."""
        self._told_at, self._is_news = moment, False
        by_reach: dict[Scope, list[Stream]] = defaultdict(list)
        for stream in self.open:
            by_reach[stream.reach].append(stream)
        for reach, streams in by_reach.items():
            words = f"event: now\ndata: {snapshot(reach, self.clock())}\n\n".encode()
            streams = [stream for stream in streams if stream.told != words]
            for stream in streams:
                stream.told = words
            self._send(streams, words)
        # What was said while we asked is in no socket any more.
        self._is_news |= self.listening.heard()

    # ── streams ───────────────────────────────────────────────────────────

    def _send(self, streams: Iterable[Stream], words: bytes) -> None:
        """Who leaves so much unread that the kernel takes no more is let go, and comes back."""
        for stream in [*streams]:
            try:
                is_sent = stream.sock.send(words) == len(words)
            except OSError:
                is_sent = False
            if not is_sent:
                self._end(stream)

    def _end(self, *streams: Stream) -> None:
        for stream in streams:
            self.open.discard(stream)
            self._selector.unregister(stream.sock)
            with suppress(OSError):
                stream.sock.shutdown(socket.SHUT_RDWR)
            stream.sock.close()


def _has_left(stream: Stream) -> bool:
    try:
        return not stream.sock.recv(4096)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


_guard = threading.Lock()
_ours: list[Streams] = []


def of_this_process() -> Streams:
    """Made by the first who needs it, after the web server has forked."""
    with _guard:
        if not _ours:
            _ours.append(Streams(settings.LIVE_CLIENTS))
            _ours[0].thread.start()
        return _ours[0]
