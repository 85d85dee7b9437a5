"""A browser that listens, without a server between: what is written to it is kept here."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from django.test import Client

from surfaces.live.streams import Stream, Streams
from surfaces.models import Operator

PATIENCE = 20.0  # seconds


class Loop:
    """An event loop in a thread of its own, as a web process has one."""

    def __enter__(self) -> Loop:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(20)
        self.loop.close()

    def start(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)


class Browser:
    def __init__(self, loop: Loop, streams: Streams, operator: Operator) -> None:
        self.client = Client()
        self.client.force_login(operator)
        session = self.client.cookies["sessionid"].value
        self.heard = b""
        self.reads = True
        self._loop = loop
        stream = Stream(operator=operator.pk, session=session, reach=operator.reach)
        self._held = loop.start(self._hold(streams, stream))

    async def _hold(self, streams: Streams, stream: Stream) -> None:
        self._gone = asyncio.get_running_loop().create_future()
        await streams.hold(stream, self._write, self._gone)

    async def _write(self, words: bytes) -> None:
        while not self.reads:
            await asyncio.sleep(0.02)
        self.heard += words

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        self._held.result(20)

    def leave(self) -> None:
        def leave() -> None:
            if not self._gone.done():
                self._gone.set_result(None)

        self._loop.loop.call_soon_threadsafe(leave)

    @property
    def told(self) -> list[dict[str, Any]]:
        """Everything it was told, in order."""
        lines = self.heard.split(b"\n\n")[:-1]
        return [json.loads(each.partition(b"data: ")[2]) for each in lines if b"data: " in each]

    def count(self, kind: str) -> str:
        told = self.told
        return str(told[-1]["counts"][kind]) if told else ""

    def has_ended(self) -> bool:
        return self._held.done()


def eventually(what: Callable[[], Any]) -> Any:
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to pass")
