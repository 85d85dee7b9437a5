"""One sender, sending once."""

from __future__ import annotations

from surfaces.delivery import Carried, deliver_due
from surfaces.sender import Sender
from tests.surfaces.scripted import Clock, ScriptedMoltbook


def send(service: ScriptedMoltbook, clock: Clock) -> Carried:
    return deliver_due(Sender(), clock=clock, transport=service)
