"""One round of the replier: inbox, reclaimed activations, decisions, replies, stones, webhooks.

Each worker takes what there is, in this order: conversations whose tool calls are decided, what
operators asked for, notifications, explorations. A pool takes its kind of the last two.

Voices take minutes, so several write at once: each thread of the pool has its own
connection and its own heartbeat.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Self

from django.db import DatabaseError, InterfaceError, connection

from dialogue.activations import services as activation_services
from dialogue.activations import suspended
from dialogue.activations.models import Activation, Purpose
from dialogue.activations.pools import Pool
from dialogue.agents import presences
from dialogue.approvals import services as approval_services
from dialogue.inbox import collect
from dialogue.replies import claims, loop, runner
from dialogue.replies.claims import FreeWorkers
from dialogue.replies.verdicts import ReplyCounts
from dialogue.stones import writer
from dialogue.wake_hooks import delivery as wake_hook_delivery
from surfaces.drafts import staleness
from surfaces.workers.locks import lock_of_this_thread

Clock = Callable[[], datetime]
Until = Callable[[], bool]
AT_ONCE = 25  # suspended activations that are looked at for one claim
LOOKS_EVERY = 10.0  # seconds between looks after all agents in a round that lasts


# Which requests of operators a pool takes. Replies that they ask for are due notifications.
REQUESTS = {
    Pool.NOTIFICATION: {Purpose.TASK},
    Pool.EXPLORATION: {Purpose.TASK, Purpose.EXPLORE},
    Pool.HYBRID: {Purpose.TASK, Purpose.EXPLORE},
}


@dataclass(slots=True)
class RoundReport:
    """Counts of one round, in comments unless the name says otherwise."""

    new: int = 0
    opened: int = 0
    answered: int = 0
    passed: int = 0
    held: int = 0
    waits: int = 0
    drafted: int = 0
    failed: int = 0
    given_back: int = 0
    taken_back: int = 0  # activations of dead workers
    stale: int = 0  # drafts
    stones: int = 0
    woken: int = 0  # webhook events delivered
    explored: int = 0  # activations, as the next three
    tasks: int = 0
    resumed: int = 0
    suspended: int = 0  # for tool calls that wait

    @property
    def did(self) -> int:
        return sum(asdict(self).values())

    def add(self, **counts: int) -> None:
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)


class ReplierPool:
    """Pool of threads that write replies. With size 0, the calling thread does all."""

    def __init__(self, size: int = 0) -> None:
        self.size, self.free = size, FreeWorkers()
        self._pool: ThreadPoolExecutor | None = None
        self._beside: Future[RoundReport] | None = None

    def __enter__(self) -> Self:
        if self.size:
            # One more, for the background tasks.
            self._pool = ThreadPoolExecutor(self.size + 1, thread_name_prefix="voice")
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool:
            self._pool.shutdown(wait=True)

    def work(
        self,
        pool: Pool,
        *,
        clock: Clock,
        until: Until,
        is_ending: Until,
        meanwhile: Callable[[], None],
    ) -> list[ReplyCounts]:
        """Run activations in all threads until nothing is due; call `meanwhile` now and then."""
        work = partial(_work, pool, self.free, clock=clock, until=until, is_ending=is_ending)
        if self._pool is None:
            return [work()]
        waiting = [self._pool.submit(work) for _ in range(self.size)]
        while wait(waiting, LOOKS_EVERY).not_done:
            meanwhile()
        return [done.result() for done in waiting]

    def beside(self, *, clock: Clock, until: Until) -> RoundReport:
        """Run stale drafts, stones and webhooks in the background, so that they delay no reply."""
        if self._pool is None:
            return _besides(clock, until)
        if self._beside and not self._beside.done():
            return RoundReport()
        last, self._beside = self._beside, self._pool.submit(_besides, clock, until)
        return last.result() if last else RoundReport()


def _work(
    pool: Pool, free: FreeWorkers, *, clock: Clock, until: Until, is_ending: Until
) -> ReplyCounts:
    counts = ReplyCounts()
    with _alive() as name:
        while not until() and _work_next(
            name, pool, counts, free=free, clock=clock, until=until, is_ending=is_ending
        ):
            pass
    return counts


def _work_next(
    worker: str,
    pool: Pool,
    counts: ReplyCounts,
    *,
    free: FreeWorkers,
    clock: Clock,
    until: Until,
    is_ending: Until,
) -> bool:
    """The next piece of work; False if there is none."""
    run = partial(runner.run, counts=counts, clock=clock, until=until, is_ending=is_ending)
    if activation := _claim_begun(worker, pool, counts, now=clock()):
        run(activation)
        return True
    if pool != Pool.EXPLORATION and loop.answer_next(
        worker, counts, free=free, clock=clock, until=until, is_ending=is_ending
    ):
        return True
    if pool == Pool.NOTIFICATION or Purpose.EXPLORE not in runner.WORKS:
        return False
    if activation := claims.claim_exploration(worker, now=clock()):
        counts.explored += 1
        run(activation)
    return activation is not None


def _claim_begun(
    worker: str, pool: Pool, counts: ReplyCounts, *, now: datetime
) -> Activation | None:
    """A conversation that may go on, or what an operator asked for."""
    for pk in suspended.ready(now=now, limit=AT_ONCE):
        if activation := suspended.resume(pk, worker=worker, now=now):
            counts.resumed += 1
            return activation
    purposes = REQUESTS[pool] & runner.WORKS.keys()
    if activation := claims.claim_requested(worker, purposes, now=now):
        name = "tasks" if activation.purpose == Purpose.TASK else "explored"
        setattr(counts, name, getattr(counts, name) + 1)
        return activation
    return None


def _besides(clock: Clock, until: Until) -> RoundReport:
    with _alive() as name:
        stale = staleness.mark_stale(now=clock())
        stones_laid = writer.write_due(worker=name, clock=clock, until=until).did
        wake_hook_delivery.announce(now=clock())
        told = wake_hook_delivery.deliver_due(clock=clock, until=until).delivered
    return RoundReport(stale=stale, stones=stones_laid, woken=told)


@contextmanager
def _alive() -> Iterator[str]:
    """Send heartbeats while working, and close a broken connection."""
    sender = lock_of_this_thread()
    try:
        sender.hold()
        yield sender.name
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


def run_round(
    crew: ReplierPool,
    *,
    clock: Clock,
    until: Until = lambda: False,
    is_ending: Until | None = None,
    is_whole: bool = True,
    pool: str = Pool.HYBRID,
) -> RoundReport:
    """Do what is due. Each part is idempotent and safe beside other processes.

    A round lasts as long as something is due; meanwhile all but the replies is done again and
    again, so that work of the dead is taken back. `is_whole` False: it begins with the inbox and
    the replies only. After `until` no reply is begun; voices stop when `is_ending`, or then, too.
    """
    is_ending = is_ending or until
    done = RoundReport()

    def look(*, is_whole: bool = True) -> None:
        if is_whole:
            _look_after_all(crew, done, clock=clock, until=is_ending)
        gathered = collect.collect(now=clock())
        done.add(new=gathered.new, opened=gathered.opened, answered=gathered.answered)
        loop.release_held(now=clock())

    look(is_whole=is_whole)
    for counts in crew.work(
        Pool(pool), clock=clock, until=until, is_ending=is_ending, meanwhile=look
    ):
        done.add(**asdict(counts))
    return done


def _look_after_all(crew: ReplierPool, done: RoundReport, *, clock: Clock, until: Until) -> None:
    done.add(taken_back=activation_services.reclaim_abandoned(now=clock()))
    presences.adopt(now=clock())
    suspended.end_overtaken(now=clock())
    approval_services.end_overdue(now=clock())
    done.add(**asdict(crew.beside(clock=clock, until=until)))
