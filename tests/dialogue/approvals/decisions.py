"""Operators approve calls, and a worker takes their outcome."""

from __future__ import annotations

from datetime import timedelta

from dialogue.approvals import services
from tests.dialogue.approvals.factories import MIRA
from tests.factories import NOON

TEN = timedelta(seconds=10)


def approve(call, **given):
    ordinary = {"digest": call.digest, "by": MIRA, "now": NOON}
    services.approve(call, **(ordinary | given))


def outcome_of(world, call):
    return world.resume().decided()[call.call_id]
