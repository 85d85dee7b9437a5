"""`manage.py watch`: read every account whose time has come."""

from __future__ import annotations

import os
import socket
from typing import Any

from surfaces import watcher
from surfaces.looping import LoopingCommand
from surfaces.models import WatchRound


class Command(LoopingCommand):
    help = "Read accounts: what is new is stored once and judged. Loops unless --once."
    kind, works = "watcher", "reads accounts"

    def step(self) -> list[dict[str, Any]]:
        worker = f"{socket.gethostname()[:60]}:{os.getpid()}"
        return [line(row) for row in watcher.watch_due(worker=worker, until=self.ending.is_set)]


def line(row: WatchRound) -> dict[str, Any]:
    return {
        "account": row.account.name,
        "seen": row.seen,
        "new": row.stored,
        "edited": row.edited,
        "deleted": row.deleted,
        "suspect": row.suspect,
        "spam": row.spam,
        "skipped": row.skipped,
        "threads": row.threads,
        "requests": row.requests,
        "seconds": round((row.ended_at - row.started_at).total_seconds(), 3),
        "outcome": row.outcome or "ok",
    }
