"""When to deliver: quiet hours and digests, in the operator's time zone. Pure.

Hours are what a clock on the wall shows. Where a day skips the hour, the first moment after it
counts; where a day has it twice, the first of the two.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from surfaces.notices.models.rule import NoticeFrequency

DAY = timedelta(days=1)
QUIET = "notice.quiet_hours"
DIGEST = "notice.next_digest"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one hour of the day to another; over midnight if `to` is the earlier one."""

    begins: time
    ends: time

    def around(self, day: date, zone: tzinfo) -> tuple[datetime, datetime]:
        last = day if self.begins < self.ends else day + DAY
        return moment(day, self.begins, zone), moment(last, self.ends, zone)


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryHours:
    zone: tzinfo
    pace: NoticeFrequency = NoticeFrequency.ONCE
    every_hours: int = 4
    daily_at: time | None = None
    quiet: QuietHours | None = None
    urgent_breaks: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryTime:
    at: datetime
    why: str = ""


def when(now: datetime, hours: DeliveryHours, *, is_urgent: bool) -> DeliveryTime:
    if is_urgent and hours.urgent_breaks:
        return DeliveryTime(now)
    digest = next_digest(now, hours)
    at = free_at(digest, hours)
    if at > digest:
        return DeliveryTime(at, QUIET)
    return DeliveryTime(at, DIGEST if digest > now else "")


def free_at(now: datetime, hours: DeliveryHours) -> datetime:
    """`now`, or the end of the quiet hours that it falls into."""
    if hours.quiet is None:
        return now
    today = now.astimezone(hours.zone).date()
    for offset in (-1, 0, 1, 2):
        begins, ends = hours.quiet.around(today + offset * DAY, hours.zone)
        if begins <= now < ends:
            now = ends
    return now


def next_digest(now: datetime, hours: DeliveryHours) -> datetime:
    """The next hour at which a digest is sent; `now` for who hears at once."""
    if hours.pace == NoticeFrequency.ONCE:
        return now
    clocks = [time(hour) for hour in range(0, 24, hours.every_hours)]
    if hours.pace == NoticeFrequency.DAILY:
        clocks = [hours.daily_at or time(8)]
    today = now.astimezone(hours.zone).date()
    days = (today + offset * DAY for offset in (-1, 0, 1, 2))
    moments = (moment(day, clock, hours.zone) for day in days for clock in clocks)
    return min(at for at in moments if at > now)


def moment(day: date, clock: time, zone: tzinfo) -> datetime:
    """The first moment at which that day's clock shows `clock`, or has passed it."""
    wall = datetime.combine(day, clock.replace(tzinfo=None))
    before, after = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if (gap := _offset(after) - _offset(before)) <= timedelta():
        return before.astimezone(UTC)
    return _end_of_gap(before.astimezone(UTC) - gap, before.astimezone(UTC), zone, _offset(after))


def _end_of_gap(early: datetime, late: datetime, zone: tzinfo, offset: timedelta) -> datetime:
    """The moment in between at which the clock was put forward, to the second."""
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) / 2
        if _offset(middle.astimezone(zone)) == offset:
            late = middle
        else:
            early = middle
    return late.replace(microsecond=0)


def _offset(at: datetime) -> timedelta:
    return at.utcoffset() or timedelta()
