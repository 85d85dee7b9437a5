"""When an agent may speak by itself, in its own time."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def opens_at(
    now: datetime, *, zone: ZoneInfo, start: time | None, end: time | None
) -> datetime | None:
    """None while it may speak; else the moment from which it may again.

    A start after the end means over midnight; both the same means at any hour.
    """
    if start is None or end is None or start == end:
        return None
    local = now.astimezone(zone)
    clock = local.time()
    inside = start <= clock < end if start < end else clock >= start or clock < end
    if inside:
        return None
    day = local.date() if clock < start else local.date() + timedelta(days=1)
    return _moment(day, start, zone, after=now)


def _moment(day: date, at: time, zone: ZoneInfo, *, after: datetime) -> datetime:
    """That hour of that day; of two, the one to come; where the clock skips it, that moment."""
    utc = ZoneInfo("UTC")
    local = datetime.combine(day, at, tzinfo=zone)
    first, second = (local.replace(fold=fold).astimezone(utc) for fold in (0, 1))
    if second < first:
        return _skip(second, first, zone)
    return max(first if first > after else second, after + timedelta(seconds=1))


def _skip(before: datetime, later: datetime, zone: ZoneInfo) -> datetime:
    """The first second at which the clock shows another offset; it does so between the two."""
    offset = before.astimezone(zone).utcoffset()
    while later - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(later - before) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            later = middle
    return later


def day_of(now: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Where the agent's day begins, and where it ends."""
    today = now.astimezone(zone).date()
    utc = ZoneInfo("UTC")
    begin = datetime.combine(today, time.min, tzinfo=zone).astimezone(utc)
    end = datetime.combine(today + timedelta(days=1), time.min, tzinfo=zone).astimezone(utc)
    return begin, end
