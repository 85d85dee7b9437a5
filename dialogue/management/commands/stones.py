"""`manage.py stones`: choose and write the posts that are due."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from dialogue import activations, stones
from surfaces.looping import LoopingCommand
from surfaces.sender import Sender


class Command(LoopingCommand):
    help = "Choose stones and have them written, each slot once. Loops unless --once."
    every = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sender = Sender()

    def step(self) -> list[dict[str, Any]]:
        self.sender.hold()
        activations.take_back(now=timezone.now())
        laid = stones.lay_due(worker=self.sender.name, clock=timezone.now, until=self.ending.is_set)
        return [asdict(laid)] if laid.did else []

    def nothing(self) -> dict[str, Any]:
        return asdict(stones.Laid())
