"""Twelve weeks as pictures: how often each kind was chosen, and what it earned per stone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet
from django.db.models.functions import TruncWeek

from dialogue.earning.listing import Earned, earned, of
from dialogue.models import Stone
from dialogue.models.stone import StoneKind
from surfaces.reach import WHOLE, Reach

WEEKS = 12
BASE, FULL = 124, 100  # px: where columns stand, and how high 100 % is
COLUMN = 100 / WEEKS  # % of the width
BARS = 62  # % of the width for the longest bar


@dataclass(frozen=True, kw_only=True, slots=True)
class Week:
    """One column: how many stones of each kind were chosen, and the share as it was set."""

    at: int
    starts: date
    explore: int = 0
    exploit: int = 0
    was_set: float | None = None

    @property
    def total(self) -> int:
        return self.explore + self.exploit

    @property
    def share(self) -> float | None:
        return self.explore / self.total if self.total else None

    @property
    def is_now(self) -> bool:
        return self.at == WEEKS - 1

    @property
    def is_named(self) -> bool:
        """Every second one: more names would not fit on a phone."""
        return (WEEKS - 1 - self.at) % 2 == 0

    @property
    def x(self) -> str:
        return f"{(self.at + 0.14) * COLUMN:.2f}%"

    @property
    def middle(self) -> str:
        return f"{(self.at + 0.5) * COLUMN:.2f}%"

    @property
    def width(self) -> str:
        return f"{0.72 * COLUMN:.2f}%"

    @property
    def left(self) -> str:
        return f"{self.at * COLUMN:.2f}%"

    @property
    def right(self) -> str:
        return f"{(self.at + 1) * COLUMN:.2f}%"

    @property
    def height(self) -> str:
        return f"{FULL * (self.share or 0):.1f}"

    @property
    def top(self) -> str:
        return f"{BASE - FULL * (self.share or 0):.1f}"

    @property
    def set_at(self) -> str:
        return f"{BASE - FULL * (self.was_set or 0):.1f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """What the sent stones of one kind earned."""

    kind: str
    stones: int
    comments: int
    commenters: int

    @property
    def comments_each(self) -> float | None:
        return self.comments / self.stones if self.stones else None

    @property
    def commenters_each(self) -> float | None:
        return self.commenters / self.stones if self.stones else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    label: str
    css: str
    value: float
    longest: float
    y: int

    @property
    def width(self) -> str:
        return f"{self._part:.2f}%"

    @property
    def end(self) -> str:
        return f"{20 + self._part + 1.5:.2f}%"

    @property
    def words_at(self) -> int:
        return self.y + 10

    @property
    def _part(self) -> float:
        return BARS * self.value / self.longest if self.longest else 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    """Twelve weeks: what was chosen, and what each kind earned."""

    weeks: list[Week]
    gains: list[Gain]

    @property
    def explore(self) -> int:
        return sum(week.explore for week in self.weeks)

    @property
    def total(self) -> int:
        return sum(week.total for week in self.weeks)

    @property
    def share(self) -> float | None:
        return self.explore / self.total if self.total else None

    @property
    def was_set(self) -> float | None:
        """As it was set on average, over the stones."""
        parts = [week.was_set * week.total for week in self.weeks if week.was_set is not None]
        return sum(parts) / self.total if self.total else None

    @property
    def sent(self) -> int:
        return sum(gain.stones for gain in self.gains)

    @property
    def bars(self) -> list[Bar]:
        values = [(g.kind, g.comments_each or 0.0, g.commenters_each or 0.0) for g in self.gains]
        longest = max((value for _, *both in values for value in both), default=0.0)
        return [
            Bar(label=kind, css=kind, value=both[part], longest=longest, y=y + 20 * at)
            for part, y in ((0, 22), (1, 92))
            for at, (kind, *both) in enumerate(values)
        ]


def picture(agent: str, *, now: datetime, zone: tzinfo, reach: Reach = WHOLE) -> Picture:
    """Three queries. Weeks begin on Monday where the reader is."""
    today = now.astimezone(zone).date()
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    since = datetime.combine(first, time.min, tzinfo=zone)
    rows = of(agent, reach).filter(chosen_at__gte=since).order_by()
    return Picture(_weeks(rows, first, zone), _gains(rows))


def _weeks(rows: QuerySet[Stone], first: date, zone: tzinfo) -> list[Week]:
    counted = rows.annotate(week=TruncWeek("chosen_at", tzinfo=zone)).values("week").annotate(
        explore=Count("pk", filter=Q(kind=StoneKind.EXPLORE)),
        exploit=Count("pk", filter=Q(kind=StoneKind.EXPLOIT)),
        was_set=Avg("share"),
    )  # fmt: skip
    found: dict[date, Any] = {row["week"].date(): row for row in counted}
    starts = [first + timedelta(weeks=at) for at in range(WEEKS)]
    return [_week(at, day, found.get(day, {})) for at, day in enumerate(starts)]


def _week(at: int, day: date, found: dict[str, Any]) -> Week:
    return Week(
        at=at,
        starts=day,
        explore=found.get("explore", 0),
        exploit=found.get("exploit", 0),
        was_set=found.get("was_set"),
    )


def _gains(rows: QuerySet[Stone]) -> list[Gain]:
    sent = rows.filter(draft__message__isnull=False)
    gains = earned(sent)
    by_kind: dict[str, list[Earned]] = {kind: [] for kind in StoneKind.values}
    for pk, kind in sent.values_list("pk", "kind"):
        by_kind[kind].append(gains.get(pk, Earned()))
    return [
        Gain(
            kind=kind,
            stones=len(all_of_it),
            comments=sum(one.comments for one in all_of_it),
            commenters=sum(one.commenters for one in all_of_it),
        )
        for kind, all_of_it in by_kind.items()
    ]
