"""Current counts of the desk and pauses, for one scope."""

import json
import time
from collections.abc import Callable, Hashable
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from surfaces.desk import queue
from surfaces.desk.models import DeskItem
from surfaces.extension_points import extensions
from surfaces.operators.scope import Scope
from surfaces.pauses import services as pause_services

T = TypeVar("T")
SECOND = 1.0


def snapshot(reach: Scope, now: datetime) -> str:
    """As JSON: counts in words by kind, the newest item's id, which pauses are on, other marks."""
    waiting = queue.counts(reach, now)
    counts = {name: each.words for name, each in waiting.items()}
    counts["desk"] = queue.capped(sum(each.count for each in waiting.values()))
    pauses = pause_services.live()
    counts["paused"] = str(len(pauses))
    newest = reach.narrow(DeskItem.objects.order_by("-pk")).values_list("pk", flat=True).first()
    told: dict[str, Any] = {
        "counts": counts,
        "newest": newest or 0,
        "pauses": "".join(f"{pause.pk}," for pause in pauses),
        "marks": {name: mark(reach) for found in extensions() for name, mark in found.live_marks},
    }
    return json.dumps(told, separators=(",", ":"))


class SharedSnapshot:
    """Shared results, each computed at most once in `lasts` seconds."""

    def __init__(self, lasts: float = SECOND) -> None:
        self.lasts = lasts
        self._lock = Lock()
        self._known: dict[Hashable, tuple[float, Any]] = {}

    def get(self, key: Hashable, work: Callable[[], T]) -> T:
        with self._lock:
            moment = time.monotonic()
            self._known = {k: v for k, v in self._known.items() if moment - v[0] < self.lasts}
            if key not in self._known:
                self._known[key] = (moment, work())
            found: T = self._known[key][1]
            return found
