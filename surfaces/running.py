"""Which of our processes run, by kind: the same words for home and for the doctor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from surfaces.models import Worker
from surfaces.models.worker import Kind

WORTH_SAYING = timedelta(seconds=2)
START = {
    Kind.WEB: "manage.py run",
    Kind.WATCHER: "manage.py watch",
    Kind.SENDER: "manage.py deliver",
    Kind.REPLIER: "manage.py reply",
    Kind.TASKS: "manage.py qcluster",
}


@dataclass(kw_only=True, slots=True)
class Running:
    """All processes of one kind."""

    kind: Kind
    up: list[Worker] = field(default_factory=list)
    silent: list[Worker] = field(default_factory=list)

    @property
    def of(self) -> int:
        return len(self.up) + len(self.silent)

    @property
    def start(self) -> str:
        """The command that starts one."""
        return START[self.kind]

    @property
    def silent_since(self) -> datetime | None:
        """When the first of them was heard for the last time."""
        return min((row.beat_at for row in self.silent), default=None)

    @property
    def busy(self) -> list[Worker]:
        """Those that do something, the longest at it first."""
        at_work = [row for row in self.up if _is_at_it(row)]
        return sorted(at_work, key=lambda row: row.doing_since or row.beat_at)


def _is_at_it(row: Worker) -> bool:
    """What takes less than this is over before anybody reads of it."""
    return row.doing_since is not None and row.beat_at - row.doing_since >= WORTH_SAYING


def running(rows: Iterable[Worker], now: datetime) -> list[Running]:
    """One of each kind, in order, whether or not anything of it runs."""
    found = {kind: Running(kind=kind) for kind in Kind}
    for row in rows:
        group = found[Kind(row.kind)]
        (group.silent if row.is_silent(now) else group.up).append(row)
    return list(found.values())
