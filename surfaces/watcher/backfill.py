"""Read an account's whole history, page by page. Can be repeated."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from surfaces.accounts.clients import Clock
from surfaces.accounts.models.account import Account
from surfaces.watcher.rounds import Transport, WatchReport, open_known_reader, read_thread


@dataclass(frozen=True, slots=True)
class BackfillStep:
    posts: int  # read so far
    comments_seen: int
    stored: int
    skipped: int
    title: str


def backfill(
    account: Account, *, clock: Clock, transport: Transport = None
) -> Iterator[BackfillStep]:
    """Yield a step per post. Raises `SurfaceError`; what was read before stays."""
    report, posts, cursor = WatchReport(), 0, None
    with closing(open_known_reader(account, clock=clock, transport=transport)) as reader:
        while True:
            page = reader.history(cursor)
            report.skipped += page.skipped
            for post in page.posts:
                read_thread(account, reader, post.remote_id, report, clock=clock)
                posts += 1
                skipped = len(report.skipped)
                yield BackfillStep(posts, report.seen, report.stored.new, skipped, post.title)
            if page.cursor is None:
                return
            cursor = page.cursor
