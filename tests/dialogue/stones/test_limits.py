"""Stones keep to their slots, hours and limits, and whatever stops an agent stops them."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from dialogue.errors import VoiceDown
from dialogue.models import Agent, AgentSettings, Kernel, Presence, Stone
from dialogue.stones import scheduler
from dialogue.stones.writer import WriteReport
from surfaces.models import Account, AuditEvent, Draft
from surfaces.pauses import services as pause_services
from tests.dialogue.stones.factories import Pen, lay, make_layer
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_two_stones_a_day_are_spread_and_a_third_waits_for_tomorrow(worker, clock):
    presence = make_layer(stones_per_day=2)
    for _ in range(60):  # from 12:00 to 03:00, every quarter of an hour
        lay(worker, clock)
        Draft.objects.update(state="withdrawn")
        clock.pass_by(minutes=15)
    laid = presence.stones.order_by("pk").values_list("slot", "chosen_at")
    assert [slot for slot, _ in laid] == ["2026-11-21#1", "2026-11-21#2", "2026-11-22#1"]
    assert [at.hour for _, at in laid] == [12, 18, 0]


def test_the_day_begins_where_the_agent_lives(worker, clock):
    make_layer(of_agent={"timezone": "Pacific/Auckland"})
    lay(worker, clock)
    assert Stone.objects.get().slot == "2026-11-22#1"


def test_nothing_is_laid_before_its_time(worker, clock):
    make_layer(next_stone_at=NOON + timedelta(minutes=1))
    assert lay(worker, clock) == WriteReport()
    clock.pass_by(minutes=1)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize(
    ("start", "end", "hour"), [(time(13), time(20), 13), (time(22), time(6), 22)]
)
def test_outside_its_hours_an_agent_lays_nothing(start, end, hour, worker, clock):
    make_layer(of_agent={"active_from": start, "active_to": end})
    assert lay(worker, clock) == WriteReport()
    clock.now = datetime(2026, 11, 21, hour, 0, tzinfo=UTC)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize("change", [
    lambda p: AgentSettings.objects.update(lays_stones=False),
    lambda p: AgentSettings.objects.update(is_autonomous=False),
    lambda p: Agent.objects.update(lives="elsewhere"),
    lambda p: Agent.objects.update(backs_off_until=NOON + timedelta(minutes=1)),
    lambda p: Account.objects.update(mode="off"),
    lambda p: Account.objects.update(is_on=False),
    lambda p: Account.objects.update(state="auth_failed"),
    lambda p: Presence.objects.update(ended_at=NOON),
    lambda p: Presence.objects.update(stones_per_day=0),
    lambda p: pause_services.pause("all", why="", by="mira", now=NOON),
    lambda p: pause_services.pause("surface", p.account.surface.slug, why="", by="mira", now=NOON),
    lambda p: pause_services.pause("account", p.account.name, why="", by="mira", now=NOON),
    lambda p: pause_services.pause("agent", p.agent.slug, why="", by="mira", now=NOON),
])  # fmt: skip
def test_what_stops_an_agent_stops_its_stones(change, worker, clock):
    presence = make_layer()
    change(presence)
    assert lay(worker, clock) == WriteReport()
    assert not Stone.objects.exists()


def test_a_pause_that_came_between_keeps_a_chosen_stone_waiting(worker, clock):
    presence = make_layer()
    scheduler.choose(presence, now=NOON)
    pause_services.pause("agent", presence.agent.slug, why="", by="mira", now=NOON)
    assert lay(worker, clock) == WriteReport()
    pause_services.resume("agent", presence.agent.slug, by="mira", now=NOON)
    assert lay(worker, clock).written == 1


@pytest.mark.parametrize("state", ["waiting", "approved", "unknown"])
def test_while_one_stone_is_under_way_there_is_no_next(state: str, worker, clock):
    presence = make_layer(stones_per_day=24)
    lay(worker, clock)
    approved = {"approved_digest": "x", "not_before": NOON} if state == "approved" else {}
    Draft.objects.update(state=state, **approved)
    clock.pass_by(hours=2)
    assert lay(worker, clock).chosen == 0
    Draft.objects.update(state="withdrawn")
    assert lay(worker, clock).chosen == 1
    assert presence.stones.count() == 2


def test_a_failed_try_uses_up_its_slot(worker, clock):
    make_layer()
    lay(worker, clock, Pen(VoiceDown("gone")))
    Stone.objects.update(state="given_up")
    clock.pass_by(hours=11)
    assert lay(worker, clock).chosen == 0


def test_where_there_is_nothing_to_lay_it_is_said_once_and_looked_at_again(worker, clock):
    presence = make_layer(kernels=0)
    for _ in range(5):
        assert lay(worker, clock) == WriteReport()
        clock.pass_by(minutes=10)
    (line,) = AuditEvent.objects.about(presence.account).filter(action="stone.nothing")
    assert "There are no topic seeds" in str(line.why)

    Kernel.objects.create(agent=presence.agent, words="A thought")
    assert lay(worker, clock).written == 1
    assert Stone.objects.get().slot == "2026-11-21#1"
