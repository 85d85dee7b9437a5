"""All open event streams of this web process, written by its event loop.

A stream costs a socket and a task; the process one connection that listens and one thread that
queries. Both go when no stream was open for a while.
"""

import asyncio
import logging
import time
from asyncio import Future, Task
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from surfaces.live.authorization import authorized, scopes
from surfaces.live.snapshot import snapshot
from surfaces.operators.scope import Scope
from surfaces.web.async_body import Write

CHANNEL = "colloquy"
CHECK_EVERY, PING_EVERY, TELL_EVERY, LASTS, IDLE, TICK = 1.0, 15.0, 1.0, 600.0, 60.0, 0.2  # seconds
FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0  # seconds until the next try to connect
LOST = (DatabaseError, psycopg.Error)
PING = b": still here\n\n"

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True, kw_only=True)
class Stream:
    """One open stream."""

    operator: int
    session: str
    reach: Scope
    write: Write = field(init=False)
    over: Future[None] = field(init=False)  # done when the server ends it
    writing: Task[None] | None = None
    told: bytes = b""

    @property
    def place(self) -> tuple[int, str]:
        return self.operator, self.session


class Streams:
    def __init__(
        self,
        most: int,
        *,
        check_every: float = CHECK_EVERY,
        ping_every: float = PING_EVERY,
        lasts: float = LASTS,
        clock: Callable[[], datetime] = timezone.now,
    ) -> None:
        self.most, self.lasts, self.clock = most, lasts, clock
        self.check_every, self.ping_every = check_every, ping_every
        self.open: set[Stream] = set()
        self._is_news = False
        self._told_at = self._check_at = self._ping_at = self._idle_since = 0.0
        self._task: Task[None] | None = None  # runs while streams are open
        self._thread: ThreadPoolExecutor | None = None  # for queries, likewise

    @property
    def has_room(self) -> bool:
        return len(self.open) < self.most

    async def hold(self, stream: Stream, write: Write, gone: Future[None]) -> None:
        """Write to a stream until its client is gone, it is ended, or its time is over."""
        stream.write, stream.over = write, asyncio.get_running_loop().create_future()
        self.open.add(stream)
        self._is_news = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            ends = {gone, stream.over}
            await asyncio.wait(ends, timeout=self.lasts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.open.discard(stream)
            if stream.writing is not None:
                stream.writing.cancel()

    async def stop(self) -> None:
        """End every stream and let go of the database."""
        self._end(*self.open)
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    # ── the database ──────────────────────────────────────────────────────

    async def _run(self) -> None:
        """Listen as long as there are streams. A lost connection is opened again, ever later."""
        self._idle_since, wait = time.monotonic(), FIRST_WAIT
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="live")
        try:
            while not self._is_idle():
                try:
                    async with await self._listen() as ear:
                        wait = FIRST_WAIT
                        await self._serve(ear)
                except LOST as error:
                    log.warning("live: the database is away (%s); again in %.1f s", error, wait)
                    await asyncio.sleep(wait)
                    wait = min(LONGEST_WAIT, wait * 2)
                except Exception:  # whatever it is, the next browsers shall be served
                    log.exception("live: every stream is ended, browsers come back")
                    self._end(*self.open)
                    await asyncio.sleep(FIRST_WAIT)
        finally:
            self._thread.submit(lambda: connection.close())  # of that thread
            self._thread.shutdown(wait=False)

    async def _listen(self) -> psycopg.AsyncConnection:
        params = await self._query(_params)
        ear = await psycopg.AsyncConnection.connect(**params, autocommit=True)
        try:
            await ear.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            await ear.close()
            raise
        return ear

    async def _query(self, work: Callable[[], T]) -> T:
        """Run a query of Django's in the thread that has the connection for it."""

        def query() -> T:
            close_old_connections()  # one that was lost is opened again
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, query)

    # ── while it is here ──────────────────────────────────────────────────

    def _is_idle(self) -> bool:
        if self.open:
            self._idle_since = time.monotonic()
        return time.monotonic() - self._idle_since > IDLE

    async def _serve(self, ear: psycopg.AsyncConnection) -> None:
        self._is_news = True  # whatever was missed
        while not self._is_idle():
            async for _ in ear.notifies(timeout=TICK, stop_after=1):
                self._is_news = True
            moment = time.monotonic()
            if moment >= self._ping_at:
                self._ping_at = moment + self.ping_every
                await self._renew_scopes()
            elif moment >= self._check_at:
                self._check_at = moment + self.check_every
                await self._end_unauthorized()
            if self._is_news and moment >= self._told_at + TELL_EVERY:
                self._told_at, self._is_news = moment, False
                await self._tell()

    async def _end_unauthorized(self) -> None:
        places = {stream.place for stream in self.open}
        if places:
            allowed = await self._query(partial(authorized, places, self.clock()))
            self._end(*(each for each in self.open if each.place in places - allowed.keys()))

    async def _renew_scopes(self) -> None:
        """Notice changed limits, end what is unauthorized, and send a ping to the others."""
        places = {stream.place for stream in self.open}
        if not places:
            return
        allowed = await self._query(partial(scopes, places, self.clock()))
        self._end(*(each for each in self.open if each.place in places - allowed.keys()))
        for stream in self.open:
            stream.reach = allowed.get(stream.place, stream.reach)
        self._send(self.open, PING)
        self._is_news = True  # what was put off may be due again

    async def _tell(self) -> None:
        """Send a snapshot to the streams whose page differs."""
        by_reach: dict[Scope, list[Stream]] = defaultdict(list)
        for stream in self.open:
            by_reach[stream.reach].append(stream)
        for reach, streams in by_reach.items():
            said = await self._query(partial(snapshot, reach, self.clock()))
            words = f"event: now\ndata: {said}\n\n".encode()
            # An end or another reach came while we asked: those are told next time.
            streams = [each for each in streams if each in self.open and each.reach == reach]
            for stream in (others := [each for each in streams if each.told != words]):
                stream.told = words
            self._send(others, words)

    # ── streams ───────────────────────────────────────────────────────────

    def _send(self, streams: Iterable[Stream], words: bytes) -> None:
        """Who has not read what was sent before is let go, and comes back."""
        for stream in [*streams]:
            if stream.writing is not None and not stream.writing.done():
                self._end(stream)
            else:
                stream.writing = asyncio.ensure_future(_write(stream, words))

    def _end(self, *streams: Stream) -> None:
        for stream in streams:
            self.open.discard(stream)
            if not stream.over.done():
                stream.over.set_result(None)


async def _write(stream: Stream, words: bytes) -> None:
    await stream.write(words)


def _params() -> dict[str, Any]:
    """How Django would connect, without what only its own cursors know."""
    params: dict[str, Any] = connection.get_connection_params()
    return {name: params[name] for name in params if name not in {"cursor_factory", "context"}}


@cache
def of_this_process() -> Streams:
    return Streams(settings.LIVE_CLIENTS)
