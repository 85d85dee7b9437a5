"""Which agents have work, the most urgent first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.activations import choosing
from dialogue.models import Presence
from surfaces.workers import wait_bounds
from tests.dialogue.activations.candidates import agent_of, due, explorer, set_of, stale, wake
from tests.factories import NOON, make_notification, make_presence

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def test_more_unread_and_longer_waiting_comes_first():
    one, many, old = make_presence(), make_presence(), make_presence()
    make_notification(presence=one, made_at=NOON - 4 * MINUTE)
    make_notification(presence=many, made_at=NOON)
    make_notification(presence=many, made_at=NOON)
    make_notification(presence=old, made_at=NOON - 6 * MINUTE)
    # Scores: 1 + 6/5, 2 + 0, 1 + 4/5.
    assert due() == [old.agent_id, many.agent_id, one.agent_id]
    assert choosing.notification_work(now=NOON, limit=2) == [old.agent_id, many.agent_id]


def test_the_order_is_the_same_at_any_time():
    for unread, minutes in ((1, 9), (2, 6), (3, 0), (1, 13)):
        presence = make_presence()
        for _ in range(unread):
            make_notification(presence=presence, made_at=NOON - minutes * MINUTE)
    assert due() == due(NOON + timedelta(days=3))


def test_only_agents_with_something_due_are_chosen():
    make_presence()
    make_notification(look_at=NOON + MINUTE)
    make_notification(look_at=None)
    make_notification(read_at=NOON, outcome="answered")
    now = make_notification(look_at=NOON)
    assert due() == [now.agent_id]


def test_stale_agents_come_never_activated_first_then_the_stalest():
    recent, stalest, never = explorer(), explorer(), explorer()
    agent_of(recent, last_activated_at=NOON - 16 * MINUTE)
    agent_of(stalest, last_activated_at=NOON - 90 * MINUTE)
    make_presence()  # does not explore
    assert stale() == [never.agent_id, stalest.agent_id, recent.agent_id]
    assert choosing.exploration_work(now=NOON, limit=1) == [never.agent_id]


@pytest.mark.parametrize(
    ("settings", "idle"),
    [
        ({"explore_frequency": "staleness"}, 15 * MINUTE),
        ({"explore_frequency": "staleness", "stale_minutes": 5}, 5 * MINUTE),
        ({"explore_frequency": "staleness", "stale_minutes": 10_080}, timedelta(days=7)),
        ({"explore_frequency": "hourly", "stale_minutes": 5}, timedelta(hours=1)),
        ({"explore_frequency": "daily", "stale_minutes": 5}, timedelta(days=1)),
    ],
)
def test_an_agent_explores_when_it_was_idle_for_its_time(settings, idle):
    presence = explorer(settings=settings)
    agent_of(presence, last_activated_at=NOON - idle + timedelta(seconds=1))
    assert stale() == []
    agent_of(presence, last_activated_at=NOON - idle)
    assert stale() == [presence.agent_id]


def test_a_clock_that_ran_ahead_stops_exploration_for_no_longer_than_its_time():
    presence = explorer()
    agent_of(presence, last_activated_at=NOON + timedelta(days=999))
    assert stale() == []
    wait_bounds.pull_back(now=NOON)
    assert stale(NOON + 17 * MINUTE) == [presence.agent_id]


def test_a_changed_setting_moves_when_exploration_is_due():
    presence = explorer()
    agent_of(presence, last_activated_at=NOON - 10 * MINUTE)
    assert stale() == []
    set_of(presence, stale_minutes=10)
    assert stale() == [presence.agent_id]
    set_of(presence, explore_frequency="daily")
    assert stale() == []
    set_of(presence, explore_frequency="staleness")
    assert stale() == [presence.agent_id]
    set_of(presence, explores=False)
    assert stale() == []


def test_what_operators_asked_for_comes_in_their_order_without_the_awake():
    late, early, awake = make_presence(), make_presence(), make_presence()
    make_presence()
    for presence, minutes in ((late, 1), (early, 2), (awake, 3)):
        Presence.objects.filter(pk=presence.pk).update(
            run_asked_at=NOON - minutes * MINUTE, run_asked_by="operator:mira", run_purpose="task"
        )
    wake(awake)
    set_of(early, is_autonomous=False)
    assert choosing.asked_for(now=NOON, limit=9) == [early.pk, late.pk]
    assert choosing.asked_for(now=NOON, limit=1) == [early.pk]


def test_each_choice_is_one_query(django_assert_num_queries):
    make_notification(presence=explorer())
    for choice in (choosing.notification_work, choosing.exploration_work, choosing.asked_for):
        with django_assert_num_queries(1):
            choice(now=NOON, limit=5)
