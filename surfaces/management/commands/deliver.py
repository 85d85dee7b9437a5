"""`manage.py deliver`: send what is approved and due."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from surfaces import delivery
from surfaces.looping import LoopingCommand
from surfaces.sender import Sender


class Command(LoopingCommand):
    help = "Send approved drafts, each at most once. Loops unless --once."
    kind, works = "sender", "sends"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sender = Sender()

    def step(self) -> list[dict[str, Any]]:
        carried = delivery.deliver_due(self.sender, clock=timezone.now, until=self.ending.is_set)
        return [asdict(carried)] if carried.did else []

    def nothing(self) -> dict[str, Any]:
        return asdict(delivery.Carried())
