"""`manage.py watch`: poll every account that is due."""

import os
import socket
from typing import Any

from surfaces.watcher import rounds
from surfaces.watcher.models import WatchRound
from surfaces.workers.commands import PollingCommand


class Command(PollingCommand):
    help = (
        "Poll accounts, store new messages and check them for spam. Runs in a loop unless --once."
    )
    kind, works = "watcher", "polls accounts"

    def step(self) -> list[dict[str, Any]]:
        worker = f"{socket.gethostname()[:60]}:{os.getpid()}"
        return [line(row) for row in rounds.watch_due(worker=worker, until=self.ending.is_set)]


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
