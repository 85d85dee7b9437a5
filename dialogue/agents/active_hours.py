"""Compute the active hours of an agent in its time zone."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


def next_opening(
    now: datetime, *, zone: ZoneInfo, start: time | None, end: time | None
) -> datetime | None:
    """Return None inside the active hours, else when they begin next.

    A start after the end runs past midnight; equal ends mean all day.
    """
    if start is None or end is None or start == end:
        return None
    local = now.astimezone(zone)
    clock = local.time()
    if start <= clock < end if start < end else clock >= start or clock < end:
        return None
    day = local.date() if clock < start else local.date() + timedelta(days=1)
    # Of a local time that comes twice, the next; of a skipped one, the clock change.
    opening = datetime.combine(day, start, tzinfo=zone)
    first, second = (opening.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    if second < first:
        return _skip(second, first, zone)
    return max(first if first > now else second, now + timedelta(seconds=1))


def _skip(before: datetime, later: datetime, zone: ZoneInfo) -> datetime:
    """Find the second at which the UTC offset changes between the two moments."""
    offset = before.astimezone(zone).utcoffset()
    while later - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(later - before) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            later = middle
    return later


def local_day(now: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    today = now.astimezone(zone).date()
    begin = datetime.combine(today, time.min, tzinfo=zone).astimezone(UTC)
    end = datetime.combine(today + timedelta(days=1), time.min, tzinfo=zone).astimezone(UTC)
    return begin, end
