"""Quiet hours and digests hold on every day of every zone, also where an hour is lost or twice."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surfaces.notices.models.rule import NoticeFrequency
from surfaces.notices.schedule import DeliveryHours, QuietHours, free_at, moment, next_digest, when

BERLIN = ZoneInfo("Europe/Berlin")
# Ordinary ones, one with half an hour, and one that left out a whole day.
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
         "Asia/Kathmandu", "Africa/Casablanca"]  # fmt: skip
zones = st.sampled_from(ZONES).map(ZoneInfo)
clocks = st.times().map(lambda clock: clock.replace(second=0, microsecond=0))
BEGIN = datetime(2009, 1, 1, tzinfo=UTC)
moments = st.integers(0, 21 * 365 * 24 * 60).map(lambda n: BEGIN + timedelta(minutes=n))
# Around the days on which Apia skipped one, and Berlin puts its clocks forward and back.
DAYS = [datetime(*day, tzinfo=UTC) for day in ((2011, 12, 30), (2026, 3, 29), (2026, 10, 25))]
odd = st.tuples(st.sampled_from(DAYS), st.integers(-48 * 60, 48 * 60)).map(
    lambda two: two[0] + timedelta(minutes=two[1])
)
quiets = (
    st.tuples(clocks, clocks).filter(lambda two: two[0] != two[1]).map(lambda two: QuietHours(*two))
)


def at(text: str) -> datetime:
    """A moment in Berlin; "+" at its end: the second of two."""
    fold = int(text.endswith("+"))
    return (
        datetime.fromisoformat(text.rstrip("+")).replace(tzinfo=BERLIN, fold=fold).astimezone(UTC)
    )


@given(st.one_of(moments, odd), zones, quiets)
def test_nobody_is_told_in_quiet_hours_and_everybody_after_them(
    now: datetime, zone: ZoneInfo, quiet: QuietHours
):
    hours = DeliveryHours(zone=zone, quiet=quiet)
    told = free_at(now, hours)
    assert told >= now
    assert free_at(told, hours) == told
    assert told - now <= timedelta(hours=49)  # a skipped day, and clocks put forward
    for day in (-1, 0, 1):
        begins, ends = quiet.around(told.astimezone(zone).date() + timedelta(days=day), zone)
        assert not begins <= told < ends


@given(st.one_of(moments, odd), zones, quiets, st.booleans())
def test_what_is_urgent_waits_only_where_it_should(
    now: datetime, zone: ZoneInfo, quiet: QuietHours, breaks: bool
):
    hours = DeliveryHours(
        zone=zone, quiet=quiet, pace=NoticeFrequency.DAILY, daily_at=time(8), urgent_breaks=breaks
    )
    assert (when(now, hours, is_urgent=True).at == now) == breaks
    assert when(now, hours, is_urgent=False).at > now


@given(st.one_of(moments, odd), zones, st.sampled_from([1, 2, 3, 4, 6, 8, 12]))
def test_a_digest_is_never_further_than_its_hours(now: datetime, zone: ZoneInfo, every: int):
    told = next_digest(now, DeliveryHours(zone=zone, pace=NoticeFrequency.HOURS, every_hours=every))
    assert now < told <= now + timedelta(hours=every + 1)
    assert told.second == 0


@given(st.one_of(moments, odd), zones, clocks)
def test_a_daily_digest_comes_every_day(now: datetime, zone: ZoneInfo, clock: time):
    told = next_digest(now, DeliveryHours(zone=zone, pace=NoticeFrequency.DAILY, daily_at=clock))
    assert now < told <= now + timedelta(hours=26)


@given(odd, zones, clocks, clocks)
def test_the_clock_never_runs_backwards(now: datetime, zone: ZoneInfo, one: time, other: time):
    early, late = sorted((one, other))
    assert moment(now.date(), early, zone) <= moment(now.date(), late, zone)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("2026-11-21 21:59", "2026-11-21 21:59"),
        ("2026-11-21 22:00", "2026-11-22 07:00"),
        ("2026-11-22 03:00", "2026-11-22 07:00"),
        ("2026-11-22 07:00", "2026-11-22 07:00"),
        ("2026-03-28 23:00", "2026-03-29 07:00"),  # a short night
        ("2026-10-25 02:30+", "2026-10-25 07:00"),  # a long one
    ],
)
def test_quiet_over_midnight(now: str, told: str):
    hours = DeliveryHours(zone=BERLIN, quiet=QuietHours(time(22), time(7)))
    assert free_at(at(now), hours) == at(told)


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (time(2, 30), "2026-03-29 03:00"),
        (time(3), "2026-03-29 03:00"),
        (time(4), "2026-03-29 04:00"),
    ],
)
def test_an_hour_that_the_clocks_skip_is_over_when_they_have(ends: time, told: str):
    hours = DeliveryHours(zone=BERLIN, quiet=QuietHours(time(22), ends))
    assert free_at(at("2026-03-29 01:00"), hours) == at(told)


def test_of_an_hour_that_comes_twice_the_first_counts():
    hours = DeliveryHours(zone=BERLIN, quiet=QuietHours(time(22), time(2, 30)))
    assert free_at(at("2026-10-25 01:00"), hours) == at("2026-10-25 02:30")
    assert free_at(at("2026-10-25 02:10+"), hours) == at("2026-10-25 02:10+")


def test_a_digest_in_quiet_hours_waits_for_their_end():
    hours = DeliveryHours(
        zone=BERLIN, pace=NoticeFrequency.HOURS, every_hours=4, quiet=QuietHours(time(22), time(7)),
        urgent_breaks=False,
    )  # fmt: skip
    found = when(at("2026-11-21 21:00"), hours, is_urgent=True)
    assert (found.at, found.why) == (at("2026-11-22 07:00"), "notice.quiet_hours")
    assert when(at("2026-11-21 17:00"), hours, is_urgent=False).at == at("2026-11-21 20:00")
