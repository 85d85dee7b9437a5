"""Charts of twelve weeks: explore share per week and engagement per stone."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet
from django.db.models.functions import TruncWeek

from dialogue.stones.models import Stone, StoneKind
from dialogue.stones.reports.listing import StoneEngagement, earned, of
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web import charts

WEEKS = 12
BARS_FROM, BARS_TO = 20, 82  # % of the width: where bars begin, and where the longest ends


@dataclass(frozen=True, kw_only=True, slots=True)
class StoneWeek(charts.Column):
    """One column: stones chosen per kind, the explore share, and its setting."""

    starts: date
    explore: int
    exploit: int
    was_set: float | None

    @property
    def total(self) -> int:
        return self.explore + self.exploit

    @property
    def set_at(self) -> str:
        return f"{self.y_of(self.was_set):.1f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class WeeklyGain:
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
class GainBar(charts.Bar):
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class WeeklyChart:
    weeks: list[StoneWeek]
    gains: list[WeeklyGain]

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
        parts = [week.was_set * week.total for week in self.weeks if week.was_set is not None]
        return sum(parts) / self.total if self.total else None

    @property
    def sent(self) -> int:
        return sum(gain.stones for gain in self.gains)

    @property
    def bars(self) -> list[GainBar]:
        values = [(g.kind, g.comments_each or 0.0, g.commenters_each or 0.0) for g in self.gains]
        longest = max(value for _, *both in values for value in both) or 1.0
        scale = (BARS_TO - BARS_FROM) / longest
        return [
            GainBar(
                length=both[part] * scale, start=BARS_FROM, y=y + 20 * at, css=kind, label=kind,
                value=both[part],
            )
            for part, y in ((0, 22), (1, 92))
            for at, (kind, *both) in enumerate(values)
        ]  # fmt: skip


def weekly_chart(
    agent: str, *, now: datetime, zone: tzinfo, reach: Scope = UNRESTRICTED
) -> WeeklyChart:
    """Read both charts. Three queries. Weeks begin on Monday in the operator's time zone."""
    today = now.astimezone(zone).date()
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    since = datetime.combine(first, time.min, tzinfo=zone)
    rows = of(agent, reach).filter(chosen_at__gte=since).order_by()
    return WeeklyChart(_weeks(rows, first, zone), _gains(rows))


def _weeks(rows: QuerySet[Stone], first: date, zone: tzinfo) -> list[StoneWeek]:
    counted = rows.annotate(week=TruncWeek("chosen_at", tzinfo=zone)).values("week").annotate(
        explore=Count("pk", filter=Q(kind=StoneKind.EXPLORE)),
        exploit=Count("pk", filter=Q(kind=StoneKind.EXPLOIT)),
        was_set=Avg("share"),
    )  # fmt: skip
    found: dict[date, Any] = {row["week"].date(): row for row in counted}
    weeks = []
    for at in range(WEEKS):
        day = first + timedelta(weeks=at)
        row = found.get(day, {"explore": 0, "exploit": 0, "was_set": None})
        total = row["explore"] + row["exploit"]
        week = StoneWeek(
            at=at, of=WEEKS, share=row["explore"] / total if total else None, full=100, starts=day,
            explore=row["explore"], exploit=row["exploit"], was_set=row["was_set"],
        )  # fmt: skip
        weeks.append(week)
    return weeks


def _gains(rows: QuerySet[Stone]) -> list[WeeklyGain]:
    sent = rows.filter(draft__message__isnull=False)
    gains = earned(sent)
    by_kind: dict[str, list[StoneEngagement]] = {kind: [] for kind in StoneKind.values}
    for pk, kind in sent.values_list("pk", "kind"):
        by_kind[kind].append(gains.get(pk, StoneEngagement()))
    return [
        WeeklyGain(
            kind=kind,
            stones=len(every),
            comments=sum(one.comments for one in every),
            commenters=sum(one.commenters for one in every),
        )
        for kind, every in by_kind.items()
    ]
