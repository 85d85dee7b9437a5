"""Read an account's whole history, page by page. It keeps its place and waits for the limits.

A run that ended early goes on where it stopped: at its page, without the threads that were read
since it began. A run that came to the end begins anew.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from surfaces.accounts.clients import Clock, open_reader
from surfaces.accounts.models.account import Account
from surfaces.adapters.base import Reader
from surfaces.adapters.types import Item, ItemPage, Skipped
from surfaces.errors import Limited, Refused, TryLater
from surfaces.messages.models import Message
from surfaces.text.reasons import StoredReason, reason
from surfaces.watcher.models import ReadingPlace
from surfaces.watcher.rounds import Transport, WatchReport, identify, read_thread

PAUSES = [timedelta(seconds=seconds) for seconds in (5, 30, 120)]  # where none is named
Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class BackfillStep:
    posts: int  # read so far, over all runs of this backfill
    comments_seen: int
    stored: int
    skipped: int
    title: str
    waits_until: datetime | None = None
    why: StoredReason | str = ""  # it waits


def backfill(
    account: Account, *, clock: Clock, sleep: Sleep = time.sleep, transport: Transport = None
) -> Iterator[BackfillStep]:
    """Yield a step per post and per wait. Raises `SurfaceError`; what was read before stays."""
    place = _place(account, now=clock())
    with closing(open_reader(account, clock=clock, transport=transport)) as reader:
        run = _Run(account, reader, place, clock, sleep)
        yield from run.patiently(lambda: identify(account, reader))
        yield from run.pages()


def _place(account: Account, *, now: datetime) -> ReadingPlace:
    place, is_new = ReadingPlace.objects.get_or_create(
        account=account, defaults={"started_at": now}
    )
    if place.ended_at is not None and not is_new:
        anew = {"started_at": now, "page": "", "posts": 0, "ended_at": None}
        ReadingPlace.objects.filter(pk=place.pk).update(**anew)
        place.refresh_from_db()
    return place


class _Run:
    def __init__(
        self, account: Account, reader: Reader, place: ReadingPlace, clock: Clock, sleep: Sleep
    ) -> None:
        self.account, self.reader, self.place = account, reader, place
        self.clock, self.sleep = clock, sleep
        self.report, self.title = WatchReport(), ""
        self.page = ItemPage(posts=(), cursor=None)
        self.cursors: set[str] = set()

    def pages(self) -> Iterator[BackfillStep]:
        while True:
            yield from self.patiently(self._read_page)
            self.report.skipped += self.page.skipped
            for post in self._unread():
                self.title = post.title
                yield from self.patiently(partial(self._read_thread, post.remote_id))
                self._keep(posts=self.place.posts + 1)
                yield self._step()
            # A list that leads back to a page of before has no more to show.
            if self.page.cursor is None or self.page.cursor in self.cursors:
                self._keep(ended_at=self.clock())
                return
            self.cursors.add(self.page.cursor)
            self._keep(page=self.page.cursor)

    def _read_page(self) -> None:
        self.page = self.reader.history(self.place.page or None)

    def _unread(self) -> list[Item]:
        names = [post.remote_id for post in self.page.posts]
        rows = Message.objects.filter(account=self.account, remote_id__in=names)
        done = rows.filter(thread_read_at__gte=self.place.started_at)
        read = set(done.values_list("remote_id", flat=True))
        return [post for post in self.page.posts if post.remote_id not in read]

    def _read_thread(self, post_id: str) -> None:
        try:
            read_thread(self.account, self.reader, post_id, self.report, clock=self.clock)
        except Refused as error:  # one thread that cannot be read does not hide those behind it
            why = reason("watch.thread", error=error.reason)
            self.report.skipped.append(Skipped(post_id, why))

    def patiently(self, act: Callable[[], None]) -> Iterator[BackfillStep]:
        """Do it again after every wait that a limit names, and a few times after other failures."""
        failures = 0
        while True:
            try:
                act()
                return
            except TryLater as error:
                wait = error.wait
                if not isinstance(error, Limited):
                    if failures >= len(PAUSES):
                        raise
                    wait = max(wait or timedelta(), PAUSES[failures])
                    failures += 1
                until = self.clock() + (wait or timedelta())
                yield self._step(waits_until=until, why=error.reason)
                self.sleep(max(0.0, (until - self.clock()).total_seconds()))

    def _keep(self, **facts: object) -> None:
        ReadingPlace.objects.filter(pk=self.place.pk).update(**facts)
        for name, value in facts.items():
            setattr(self.place, name, value)

    def _step(
        self, *, waits_until: datetime | None = None, why: StoredReason | str = ""
    ) -> BackfillStep:
        done = self.report
        counts = (self.place.posts, done.seen, done.stored.new, len(done.skipped))
        return BackfillStep(*counts, self.title, waits_until, why)
