"""`manage.py watch`: poll every account that is due."""

import os
import socket
from collections.abc import Iterator
from typing import Any

from surfaces.watcher import rounds
from surfaces.watcher.models import WatchRound
from surfaces.workers.commands import PollingCommand


class Command(PollingCommand):
    help = (
        "Poll accounts, store new messages and check them for spam. Runs in a loop unless --once."
    )
    kind, works = "watcher", "polls accounts"

    def step(self) -> Iterator[dict[str, Any]]:
        worker = f"{socket.gethostname()[:60]}:{os.getpid()}"
        until = self.ending.is_set
        return map(line, rounds.watch_at_once(rounds.AT_ONCE, worker=worker, until=until))


def line(row: WatchRound) -> dict[str, Any]:
    counts = ("edited", "deleted", "suspect", "spam", "skipped", "threads", "requests")
    return {
        "account": row.account.name,
        "seen": row.seen,
        "new": row.stored,
        **{name: getattr(row, name) for name in counts},
        "seconds": round((row.ended_at - row.started_at).total_seconds(), 3),
        "outcome": str(row.outcome) or "ok",
    }
