"""A worker is killed before every statement and every commit of a call: nothing runs twice."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dialogue.activations.models import Activation, ActivationState
from dialogue.approvals import services
from dialogue.approvals.models import ENDED
from dialogue.models import ToolCall
from tests.dialogue.approvals import mortals
from tests.dialogue.approvals.factories import MIRA, CallWorld
from tests.factories import NOON
from tests.stories import processes

pytestmark = [pytest.mark.story, pytest.mark.django_db(transaction=True)]
MOST_STEPS = 150


@pytest.fixture(autouse=True)
def _forks() -> None:
    processes.serve_forks()


def lives(target: Any, *given: Any) -> bool:
    """Whether it came to its end."""
    process = multiprocessing.get_context("forkserver").Process(target=target, args=given)
    process.start()
    process.join(60)
    assert process.exitcode in (0, -9), process.exitcode
    return process.exitcode == 0


def kills(stride: int) -> Iterator[int]:
    yield from range(1, MOST_STEPS, stride)


def reclaimed(world: CallWorld) -> None:
    """What other workers do after a lease: the activation ends, and what it left is swept."""
    Activation.objects.filter(pk=world.activation.pk, state=ActivationState.RUNNING).update(
        state=ActivationState.ABANDONED, ended_at=NOON, outcome="activation.worker_died"
    )
    services.end_overdue(now=NOON)


@pytest.mark.parametrize("name", ["save", "peek"])
def test_a_call_of_a_worker_that_dies_happened_once_or_not(name):
    ends: Counter[str] = Counter()
    for dies_at in kills(stride=5):
        world = CallWorld()
        came_through = lives(mortals.propose, world.item.pk, name, dies_at)
        reclaimed(world)
        call = ToolCall.objects.filter(item=world.item).first()
        ran = len(world.ran())
        ends[call.state if call else "no row"] += 1
        assert call is None or call.state in ENDED
        assert ran == (1 if call and call.state == "done" else 0) or name == "peek"
        assert ran <= 1
        told = world.activation.steps.filter(kind="returned").count()
        assert told == (1 if call and call.state == "done" else 0)
        if came_through:
            break
    print(f"{name}: {dict(ends)}")
    assert came_through
    assert {"no row", "failed", "done"} <= ends.keys()


def test_an_approved_call_runs_once_however_often_its_worker_dies():
    steps = kills(stride=2)
    kept = 0
    for dies_at in steps:
        world = CallWorld()
        call = world.asked("shell", "once")
        services.approve(call, digest=call.digest, by=MIRA, now=NOON)
        world.resume()
        came_through = lives(mortals.decided, world.item.pk, dies_at)
        assert len(world.ran()) <= 1
        kept += not world.ran()
        belt = world.resume()  # the next worker
        assert belt.decided()[call.call_id].text.endswith("kept once")
        assert world.ran() == ["once"]
        assert world.activation.steps.filter(kind="returned").count() == 1
        if came_through:
            break
    print(f"shell: {kept} kills before it ran")
    assert came_through


def test_an_approved_slow_call_is_never_repeated_by_itself():
    ends: Counter[str] = Counter()
    for dies_at in kills(stride=2):
        world = CallWorld()
        call = world.asked("call_out", "once")
        services.approve(call, digest=call.digest, by=MIRA, now=NOON)
        world.resume()
        came_through = lives(mortals.decided, world.item.pk, dies_at)
        world.suspend()  # taken back; its conversation waits
        services.end_overdue(now=NOON)
        call.refresh_from_db()
        ends[call.state] += 1
        before = len(world.ran())
        world.resume().decided()
        assert len(world.ran()) == (1 if call.state == "approved" else before) <= 1
        if came_through:
            break
    print(f"call_out: {dict(ends)}")
    assert {"approved", "unknown", "done"} == ends.keys()
