"""One round of the first floor: inbox, what dead workers left, verdicts, replies, stones, wakings.

Voices take minutes, so several write at once: each thread of the crew has its own
connection and its own sign of life.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from django.db import DatabaseError, InterfaceError, connection

from dialogue import activations, inbox, presences, reply_loop, stones, waking
from dialogue.answering import Tally
from surfaces import lapsing
from surfaces.sender import sender_of_this_thread

Clock = Callable[[], datetime]
Until = Callable[[], bool]


@dataclass(slots=True)
class Round:
    """What one round did. Comments, unless the name says otherwise."""

    new: int = 0
    opened: int = 0
    answered: int = 0
    passed: int = 0
    held: int = 0
    waits: int = 0
    drafted: int = 0
    failed: int = 0
    given_back: int = 0
    taken_back: int = 0  # wakings of dead workers
    stale: int = 0  # drafts
    stones: int = 0
    woken: int = 0  # events to agents elsewhere

    @property
    def did(self) -> int:
        return sum(asdict(self).values())


@dataclass(slots=True)
class Beside:
    """What was done beside the replies."""

    stale: int = 0
    stones: int = 0
    woken: int = 0


class Crew:
    """The threads that write. Use it as a context; alone, the calling thread does all."""

    def __init__(self, size: int = 1) -> None:
        self.size = max(size, 1)
        self._pool: ThreadPoolExecutor | None = None
        self._beside: Future[Beside] | None = None

    def __enter__(self) -> Self:
        if self.size > 1:
            # One more, for what is done beside.
            self._pool = ThreadPoolExecutor(self.size + 1, thread_name_prefix="voice")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._pool:
            self._pool.shutdown(wait=True)

    def answer(self, *, clock: Clock, until: Until) -> list[Tally]:
        """Let everybody answer until nothing is due."""
        if self._pool is None:
            return [_answer(clock, until)]
        waiting = [self._pool.submit(_answer, clock, until) for _ in range(self.size)]
        return [done.result() for done in waiting]

    def beside(self, *, clock: Clock, until: Until) -> Beside:
        """Stale drafts, stones and wakings. None of them holds up a reply; the news comes later."""
        if self._pool is None:
            return _besides(clock, until)
        if self._beside and not self._beside.done():
            return Beside()
        last, self._beside = self._beside, self._pool.submit(_besides, clock, until)
        return last.result() if last else Beside()


def _answer(clock: Clock, until: Until) -> Tally:
    with _alive() as name:
        return reply_loop.answer_due(name, clock=clock, until=until)


def _besides(clock: Clock, until: Until) -> Beside:
    with _alive() as name:
        stale = lapsing.mark_stale(now=clock())
        stones_laid = stones.lay_due(worker=name, clock=clock, until=until).did
        waking.announce(now=clock())
        told = waking.deliver_due(clock=clock, until=until).delivered
    return Beside(stale=stale, stones=stones_laid, woken=told)


@contextmanager
def _alive() -> Iterator[str]:
    """Give a sign of life while we work; a broken connection is not used again."""
    sender = sender_of_this_thread()
    try:
        sender.hold()
        yield sender.name
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


def one(crew: Crew, *, clock: Clock, until: Until = lambda: False, is_whole: bool = True) -> Round:
    """Do what is due. Each part is idempotent; a part that is done elsewhere does nothing.

    `is_whole` False: only what people wait for, the inbox and the replies.
    """
    done = Round()
    if is_whole:
        done.taken_back = activations.take_back(now=clock())
        presences.adopt(now=clock())
        beside = crew.beside(clock=clock, until=until)
        done.stale, done.stones, done.woken = beside.stale, beside.stones, beside.woken
    gathered = inbox.gather(now=clock())
    done.new, done.opened, done.answered = gathered.new, gathered.opened, gathered.answered
    reply_loop.release_held(now=clock())
    for tally in crew.answer(clock=clock, until=until):
        for name, count in asdict(tally).items():
            setattr(done, name, getattr(done, name) + count)
    return done
