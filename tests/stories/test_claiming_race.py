"""Sixteen claimers, thousands of agents, and SIGKILL at any moment: each piece of work once.

No agent is ever in two hands: its activations follow each other by their fencing numbers. None
stays with the dead for longer than a lease. `make test-long` has 10,000 agents and sixteen
processes, half of them with three workers that claim together; `make test` a tenth, with sixteen
workers in eight processes.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db.models import Count
from django.utils import timezone

from dialogue.activations import priorities
from dialogue.activations.services import LEASE
from dialogue.models import Activation, ActivationItem, Agent, Notification
from surfaces.models import Draft, Message
from tests.crowds import ask_all, make_crowd
from tests.stories import processes

PART = 1 if os.environ.get("COLLOQUY_LONG_TESTS") else 10
AGENTS = 10_000 // PART
KILLS = 200 // PART
PROCESSES = 16 if PART == 1 else 8
WORKERS = [1, 3]  # of every other process
DEADLINE = 3_000 // PART  # seconds for the whole story
# Both commands walk one road.
COMMANDS = [["activate", "--pool", "notification"], ["activate", "--pool", "hybrid"], ["reply"]]

pytestmark = [
    pytest.mark.story,
    pytest.mark.timeout(DEADLINE + 200),
    pytest.mark.django_db(transaction=True),
]


def start(number: int) -> Any:
    workers = WORKERS[number % len(WORKERS)]
    return processes.start(*COMMANDS[number % len(COMMANDS)], "--workers", str(workers))


def test_each_piece_of_work_is_done_once_whoever_dies(capsys: Any):
    rng = random.Random("claiming")
    rows = ask_all(make_crowd(AGENTS, tag="racer", mode="review"), at=timezone.now())
    began = time.monotonic()
    kills = live_through(rng, began + DEADLINE)
    took = time.monotonic() - began

    drafts = Counter(Draft.objects.values_list("target", flat=True))
    states = Counter(Activation.objects.values_list("state", flat=True).order_by())
    hands, longest = overlaps(), longest_hold()
    with capsys.disabled():
        print(
            f"\nclaiming: {PROCESSES} processes, {AGENTS:,} agents, {kills} kills in {took:.0f} s,"
            f" activations {dict(states)}, {sum(drafts.values()):,} drafts,"
            f" {sum(drafts.values()) - len(drafts)} duplicates, {len(rows) - len(drafts)} lost,"
            f" {hands} overlapping, longest held {longest.total_seconds():.1f} s"
        )
    assert kills >= KILLS
    assert set(drafts) == {row.message_id for row in rows}
    assert set(drafts.values()) == {1}
    # One that died between its last draft and its end is abandoned; what it wrote stands.
    assert ActivationItem.objects.filter(state="drafted").count() == AGENTS
    assert states["running"] == 0
    assert states["abandoned"] >= 1
    assert hands == 0
    assert longest < LEASE
    assert priorities.differing() == []


def live_through(rng: random.Random, ends_at: float) -> int:
    """Keep the processes alive, and kill them, until everything is written."""
    processes.serve_forks()
    read_at, kills = read_threads(), 0
    alive = [start(number) for number in range(PROCESSES)]
    try:
        while time.monotonic() < ends_at:
            if time.monotonic() - read_at > 15:
                read_at = read_threads()
            time.sleep(rng.uniform(0.1, 0.5))
            left = Notification.objects.filter(draft=None).count()
            if not left and not Activation.objects.running().exists():
                break
            if kills < KILLS and left < AGENTS:  # the first is under way
                processes.kill(rng.choice(alive))
                kills += 1
            for number, process in enumerate(alive):
                if not process.is_alive():
                    alive[number] = start(number)
    finally:
        for process in alive:
            processes.kill(process)
    return kills


def read_threads() -> float:
    """As if the watcher had read them: no claimer asks a service. What waited for that is due."""
    Message.objects.filter(kind="post").update(thread_read_at=timezone.now())
    waiting = Notification.objects.filter(draft=None, look_at__gt=timezone.now())
    priorities.move(waiting, look_at=timezone.now(), not_before=None)
    return time.monotonic()


def overlaps() -> int:
    """How often an agent was in two hands: by their numbers, one began before the last ended."""
    found = 0
    several = Agent.objects.annotate(n=Count("activations")).filter(n__gt=1)
    for agent in several:
        runs = list(agent.activations.order_by("number"))
        # A claim that found nothing to answer left a gap.
        assert runs[-1].number <= agent.claims
        found += sum(last.ended_at > following.started_at for last, following in pairwise(runs))
    assert not Agent.objects.filter(claims=0).exists()
    return found


def longest_hold() -> timedelta:
    times = Activation.objects.values_list("started_at", "ended_at")
    return max((end or timezone.now()) - start for start, end in times)
