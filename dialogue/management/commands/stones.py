"""`manage.py stones`: choose and write the posts that are due."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from dialogue.activations import services as activation_services
from dialogue.stones import writer
from surfaces.workers.commands import PollingCommand
from surfaces.workers.locks import WorkerLock


class Command(PollingCommand):
    help = "Choose and write due stones, one per slot. Runs in a loop unless --once."
    every = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sender = WorkerLock()

    def step(self) -> list[dict[str, Any]]:
        self.sender.hold()
        activation_services.reclaim_abandoned(now=timezone.now())
        worker, until = self.sender.name, self.ending.is_set
        laid = writer.write_due(worker=worker, clock=timezone.now, until=until)
        return [asdict(laid)] if laid.did else []

    def nothing(self) -> dict[str, Any]:
        return asdict(writer.WriteReport())
