"""Processes of ours that fell silent, as operators hear of it.

Who runs the rounds of notices is one of them, and cannot say that it is silent itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from surfaces.models import Worker
from surfaces.notices.occasions import Occasion
from surfaces.running import running

LONG = timedelta(minutes=3)  # a restart is no news


def silent_workers(now: datetime) -> Iterator[Occasion]:
    """Kinds of which some fell silent and none is left. Each silence once."""
    for group in running(Worker.objects.all(), now):
        since = max((row.beat_at for row in group.silent), default=now)
        if not group.up and since <= now - LONG:
            yield Occasion(
                key=f"silent:{group.kind}@{int(since.timestamp())}",
                words=f"{group.kind.label} is silent. Start it: {group.start}",
                since=since,
                is_urgent=True,
            )
