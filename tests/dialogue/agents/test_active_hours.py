from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.agents.active_hours import local_day, next_opening

BERLIN = ZoneInfo("Europe/Berlin")
UTC_ZONE = ZoneInfo("UTC")
MOMENTS = st.integers(0, 2 * 365 * 24 * 3600).map(
    lambda second: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
)


def at(text: str, zone: ZoneInfo = UTC_ZONE) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("now", "start", "end", "opens"),
    [
        ("2026-11-21T08:00", time(8), time(20), None),
        ("2026-11-21T07:59", time(8), time(20), "2026-11-21T08:00"),
        ("2026-11-21T20:00", time(8), time(20), "2026-11-22T08:00"),
        ("2026-11-21T23:30", time(22), time(6), None),
        ("2026-11-21T05:59", time(22), time(6), None),
        ("2026-11-21T06:00", time(22), time(6), "2026-11-21T22:00"),
        ("2026-11-21T12:00", time(9), time(9), None),
        ("2026-11-21T12:00", None, None, None),
    ],
)
def test_hours_hold_at_their_borders(now, start, end, opens):
    found = next_opening(at(now), zone=UTC_ZONE, start=start, end=end)
    assert found == (at(opens) if opens else None)


def test_hours_are_those_of_the_agents_own_zone():
    found = next_opening(at("2026-11-21T06:30"), zone=BERLIN, start=time(8), end=time(20))
    assert found == at("2026-11-21T08:00", BERLIN)
    assert next_opening(at("2026-11-21T07:30"), zone=BERLIN, start=time(8), end=time(20)) is None


def test_an_hour_that_the_clock_skips_still_comes():
    # In Berlin, 29 March 2026 has no 02:30.
    now = at("2026-03-29T00:30")
    found = next_opening(now, zone=BERLIN, start=time(2, 30), end=time(20))
    assert found is not None
    assert now < found <= at("2026-03-29T02:00")


@given(
    now=MOMENTS,
    start=st.times(),
    end=st.times(),
    zone=st.sampled_from([UTC_ZONE, BERLIN, ZoneInfo("Asia/Shanghai"), ZoneInfo("America/Lima")]),
)
def test_what_is_closed_opens_within_a_day_and_is_open_then(now, start, end, zone):
    found = next_opening(now, zone=zone, start=start, end=end)
    if found is None:
        return
    assert now < found <= now + timedelta(hours=25)


@given(now=MOMENTS)
def test_every_moment_lies_in_its_own_day(now):
    begin, end = local_day(now, BERLIN)
    assert begin <= now < end
    assert timedelta(hours=23) <= end - begin <= timedelta(hours=25)


def test_an_hour_that_the_clock_skips_begins_when_it_skips():
    # In Berlin, 29 March 2026 goes from 01:59:59 to 03:00.
    now = at("2026-03-29T00:30")
    found = next_opening(now, zone=BERLIN, start=time(2, 30), end=time(3, 15))
    assert found == at("2026-03-29T01:00")
    assert next_opening(found, zone=BERLIN, start=time(2, 30), end=time(3, 15)) is None


def test_of_an_hour_that_the_clock_shows_twice_the_second_is_named_after_the_first():
    # In Berlin, 25 October 2026 has two hours from 02:00 to 03:00; this is 02:05 of the second.
    found = next_opening(at("2026-10-25T01:05"), zone=BERLIN, start=time(2, 30), end=time(20))
    assert found == at("2026-10-25T01:30")
    before_both = next_opening(at("2026-10-24T23:00"), zone=BERLIN, start=time(2, 30), end=time(20))
    assert before_both == at("2026-10-25T00:30")
