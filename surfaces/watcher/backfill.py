"""Read an account's whole history, page by page. Can be repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

import httpx

from surfaces.accounts.models.account import Account
from surfaces.watcher.rounds import WatchReport, open_known_reader, read_thread


@dataclass(frozen=True, slots=True)
class BackfillStep:
    """One post of the history was read with its comments."""

    posts: int  # read so far
    comments_seen: int
    stored: int
    skipped: int
    title: str


def backfill(
    account: Account,
    *,
    clock: Callable[[], datetime],
    transport: httpx.BaseTransport | None = None,
) -> Iterator[BackfillStep]:
    """Yield a step per post. Raises `SurfaceError`; what was read before stays."""
    reader = open_known_reader(account, clock=clock, transport=transport)
    report, posts, cursor = WatchReport(), 0, None
    try:
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
    finally:
        reader.close()
