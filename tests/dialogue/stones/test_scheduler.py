"""The slots of a day: numbered, as many as were set, in the agent's own time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as some

from dialogue.stones.choice import slot, spread
from tests.factories import NOON


def test_slots_are_numbered_within_the_day():
    assert slot(NOON, UTC, 0, 3) == "2026-11-21#1"
    assert slot(NOON, UTC, 2, 3) == "2026-11-21#3"


@given(some.integers(0, 30), some.integers(0, 24))
def test_there_are_never_more_slots_than_the_setting(laid: int, per_day: int):
    assert (slot(NOON, UTC, laid, per_day) is None) == (laid >= per_day)


def test_the_day_is_the_agents_own():
    late = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)
    assert slot(late, ZoneInfo("Europe/Berlin"), 0, 1) == "2026-11-21#1"
    assert slot(late, ZoneInfo("Asia/Shanghai"), 0, 1) == "2026-11-22#1"
    assert slot(late, ZoneInfo("America/Los_Angeles"), 0, 1) == "2026-11-21#1"


def test_stones_of_a_day_are_spread_over_it():
    assert spread(1) == timedelta(hours=12)
    assert spread(4) == timedelta(hours=3)
