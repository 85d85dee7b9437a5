"""Read the reports of one agent for its pages: the last 24 hours."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery, Sum

from dialogue.models import Agent, AgentReport
from dialogue.reports.models import COUNTS
from dialogue.reports.services import HOUR, WINDOW, hour_of
from surfaces.operators.scope import UNRESTRICTED, Scope

MOST_LINKS = 12  # of one hour


@dataclass(slots=True)
class ReportCounts:
    seen: int = 0
    answered: int = 0
    waiting: int = 0
    held: int = 0
    failed: int = 0

    def add(self, other: Any) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def day_counts(now: datetime) -> dict[str, Subquery]:
    """Annotations of presences, which save a query: the last 24 hours of each account."""
    rows = AgentReport.objects.filter(agent=OuterRef("agent"), account=OuterRef("account"))
    rows = rows.filter(hour__gt=hour_of(now - WINDOW), hour__lte=now).order_by()
    by_agent = rows.values("agent")
    return {f"day_{name}": Subquery(by_agent.annotate(n=Sum(name)).values("n")) for name in COUNTS}


@dataclass(slots=True)
class HourReport:
    """One hour of an agent, over the accounts that the operator may see."""

    hour: datetime
    counts: ReportCounts = field(default_factory=ReportCounts)
    links: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ends_at(self) -> datetime:
        return self.hour + HOUR


@dataclass(frozen=True, slots=True)
class DayReport:
    hours: list[HourReport]  # newest first
    counts: ReportCounts


def last_day(agent: Agent, *, now: datetime, reach: Scope = UNRESTRICTED) -> DayReport:
    """One query."""
    rows = AgentReport.objects.filter(agent=agent, hour__gt=hour_of(now - WINDOW), hour__lte=now)
    hours: dict[datetime, HourReport] = {}
    total = ReportCounts()
    for row in reach.narrow(rows, agent="").order_by("-hour", "account"):
        hour = hours.setdefault(row.hour, HourReport(row.hour))
        hour.counts.add(row)
        total.add(row)
        hour.links = [*hour.links, *row.links][:MOST_LINKS]
    return DayReport([*hours.values()], total)
