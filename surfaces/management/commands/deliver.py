"""`manage.py deliver`: send approved drafts that are due."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from surfaces.delivery import sender
from surfaces.workers.commands import PollingCommand
from surfaces.workers.locks import WorkerLock


class Command(PollingCommand):
    help = "Send approved drafts, each at most once. Runs in a loop unless --once."
    kind, works = "sender", "sends drafts"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sender = WorkerLock()

    def step(self) -> list[dict[str, Any]]:
        carried = sender.deliver_due(self.sender, clock=timezone.now, until=self.ending.is_set)
        return [asdict(carried)] if carried.did else []

    def nothing(self) -> dict[str, Any]:
        return asdict(sender.DeliveryReport())
