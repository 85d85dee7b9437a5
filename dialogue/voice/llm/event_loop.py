"""Run asynchronous work for a caller that is not, and watch over it while it runs."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from asgiref.sync import async_to_sync

from dialogue.errors import LimitReached, VoiceStopping
from dialogue.voice.base import UsageRecorder
from surfaces.text.reasons import reason

LOOKS_EVERY = 0.1  # seconds between two checks
LONGEST_GOODBYE = 1.0  # seconds for cancelled work to end, such as closing its connection

T = TypeVar("T")


class LookupExecutor(ThreadPoolExecutor):
    """Executor of DNS lookups that closing the loop does not wait for."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in an event loop of its own, and its hooks in the calling thread.

    A database connection and its transaction belong to one thread. If this thread is interrupted,
    as by Ctrl-C, the work is cancelled; otherwise its hooks would block the exit of the process.
    """
    left = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def run() -> T:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(LookupExecutor())
        running.append((loop, asyncio.current_task()))
        if left.is_set():
            work.close()
            raise asyncio.CancelledError
        return await work

    try:
        return async_to_sync(run, force_new_loop=True)()
    finally:
        left.set()
        for loop, task in running:
            with suppress(RuntimeError):  # the loop is closed: the work is done
                if task:
                    loop.call_soon_threadsafe(task.cancel)


async def watched(work: Coroutine[Any, Any, T], check: Callable[[], None]) -> T:
    """Await `work`, and cancel it when `check`, called again and again, raises."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            check()
            await asyncio.wait({task}, timeout=LOOKS_EVERY)
        return task.result()
    finally:
        # Cancel it, wait until it has cleaned up, and consume its exception.
        task.cancel()
        await asyncio.wait({task}, timeout=LONGEST_GOODBYE)
        if task.done() and not task.cancelled():
            task.exception()


def check_may_go_on(watch: UsageRecorder, model: str) -> None:
    """Raise `VoiceStopping` when the worker stops, `LimitReached` when the time is used."""
    if watch.is_ending():
        raise VoiceStopping(reason("voice.told_to_stop", model=model))
    if why := watch.out_of_time():
        raise LimitReached(why)
