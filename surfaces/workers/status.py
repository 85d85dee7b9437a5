"""State of processes by kind, for Home and `doctor`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from surfaces.workers.models import Worker, WorkerKind

BUSY = timedelta(seconds=2)  # what takes less is over before anybody reads of it
START = {  # the commands
    WorkerKind.WEB: "manage.py run",
    WorkerKind.WATCHER: "manage.py watch",
    WorkerKind.SENDER: "manage.py deliver",
    WorkerKind.REPLIER: "manage.py reply",
    WorkerKind.AGENTS: "manage.py activate --pool exploration",
    WorkerKind.TASKS: "manage.py qcluster",
}


@dataclass(kw_only=True, slots=True)
class WorkerGroup:
    """All processes of one kind."""

    kind: WorkerKind
    up: list[Worker] = field(default_factory=list)
    silent: list[Worker] = field(default_factory=list)

    @property
    def of(self) -> int:
        return len(self.up) + len(self.silent)

    @property
    def start(self) -> str:
        return START[self.kind]

    @property
    def silent_since(self) -> datetime | None:
        """The last heartbeat of the process that stopped first."""
        return min((row.beat_at for row in self.silent), default=None)

    @property
    def busy(self) -> list[Worker]:
        """Those that do something, the longest at it first."""
        longest = sorted(self.up, key=lambda row: row.doing_since or row.beat_at)
        return [row for row in longest if row.beat_at - (row.doing_since or row.beat_at) >= BUSY]


def worker_groups(rows: Iterable[Worker], now: datetime) -> list[WorkerGroup]:
    """One of each kind, in order, whether or not anything of it runs."""
    found = {kind: WorkerGroup(kind=kind) for kind in WorkerKind}
    for row in rows:
        group = found[WorkerKind(row.kind)]
        (group.silent if row.is_silent(now) else group.up).append(row)
    return list(found.values())
