"""A process that fell silent is told of once; a restart, and one of several, are no news."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from surfaces.models import Worker
from tests.factories import NOON
from tests.surfaces.notices.factories import go_round, make_rule
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def make_worker(pid: int = 1, **given: Any) -> Worker:
    ordinary = {"kind": "sender", "name": "sender", "host": "here", "started_at": NOON}
    return Worker.objects.create(**(ordinary | {"pid": pid, "beat_at": NOON} | given))


def test_a_silent_sender_is_told_once(smtp: Any, clock: Any):
    make_rule()
    make_worker()
    clock.pass_by(minutes=2)
    go_round(clock)
    assert smtp.got == []
    for _ in range(3):
        clock.pass_by(minutes=6)
        go_round(clock)
    (mail,) = smtp.got
    assert mail.subject == "[Colloquy] 1 instance alert"
    assert "Sender sends no heartbeat. Start it with: manage.py deliver" in mail.text


def test_while_another_of_its_kind_works_nobody_is_told(smtp: Any, clock: Any):
    make_rule()
    make_worker(1)
    clock.pass_by(minutes=10)
    make_worker(2, beat_at=clock() - timedelta(seconds=5))
    go_round(clock)
    assert smtp.got == []
