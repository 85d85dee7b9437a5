"""One sender, sending once."""

from __future__ import annotations

from surfaces.delivery.sender import DeliveryReport, deliver_due
from surfaces.workers.locks import WorkerLock
from tests.surfaces.delivery.scripted_service import Clock, ScriptedMoltbook


def send(service: ScriptedMoltbook, clock: Clock) -> DeliveryReport:
    return deliver_due(WorkerLock(), clock=clock, transport=service)
