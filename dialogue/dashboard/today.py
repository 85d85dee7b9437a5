"""Panels of agents on Home: activity of today and cost per day.

Drafts are counted in the operator's time zone. Costs are counted per UTC day, as budgets are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import DateField, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils.translation import gettext as _

from dialogue.agents import scope
from dialogue.agents.models.agent import Agent, AgentLocation
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import rules as budget_rules
from dialogue.budgets.meters import limit, money
from dialogue.budgets.models import HOUSE, Period, SharedBudget, Spending
from dialogue.budgets.services import owner_of
from surfaces.drafts.models import DraftState
from surfaces.home.dashboard import Dashboard, HomePanel
from surfaces.home.onboarding import OnboardingStep
from surfaces.web import charts

MOST = 50  # agents in the table; the Agents page shows all
DAYS = 14  # of cost in the chart


# ── what each did ─────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class AgentActivity:
    """One agent's day. `hours`: sent per hour, the oldest first."""

    agent: Agent
    mode: str
    sent: int
    held: int  # written in shadow
    waiting: int  # now
    failed: int  # undecided now
    spam: int  # on its accounts
    spent: Decimal
    most: Decimal
    hours: list[int]
    pace: float

    @property
    def spent_words(self) -> str:
        return money(self.spent)

    @property
    def most_words(self) -> str:
        return money(self.most)

    @property
    def bar(self) -> charts.Bar:
        return charts.bar(float(self.spent), float(self.most), self.pace)

    @property
    def spark(self) -> charts.Spark:
        return charts.spark(self.hours)


@dataclass(frozen=True, kw_only=True)
class DayTotal:
    sent: int
    held: int
    waiting: int
    failed: int
    spam: int
    spent: Decimal

    @property
    def spent_words(self) -> str:
        return money(self.spent)


def agents_today(home: Dashboard) -> HomePanel | None:
    """The table of agents. One query in addition to those of Home."""
    agents = list(_agents(home)[: MOST + 1])
    if not agents:
        return HomePanel(template="dialogue/dashboard/_today_none.html", context={})
    rows = [_did(agent, home) for agent in agents[:MOST]]
    return HomePanel(
        template="dialogue/dashboard/_today_agents.html",
        context={
            "rows": rows,
            "total": _total(rows),
            "has_more": len(agents) > MOST,
            "hours": home.hours,
            "now": home.now,
        },
    )


def _agents(home: Dashboard) -> Any:
    """Agents by slug, with their accounts and the cost of the UTC day."""
    today = Spending.objects.filter(
        owner=Concat(Value(owner_of("")), OuterRef("slug")),
        period=Period.DAY,
        starts=budget_rules.periods(home.now)[Period.DAY],
    )
    rows = scope.agents_within(home.reach)
    rows = rows.select_related("settings").defer("persona", "carried").order_by("slug")
    return rows.annotate(
        speaks_as=ArrayAgg("presences__account", filter=Q(presences__ended_at=None), default=[]),
        spent=Subquery(today.values(sum=F("money") + F("held_money"))[:1]),
    )


def _did(agent: Any, home: Dashboard) -> AgentActivity:
    return AgentActivity(
        agent=agent,
        mode=agent.settings.mode,
        sent=home.sent_today[agent.slug],
        held=home.drafts[agent.slug, DraftState.SHADOWED, None],
        waiting=home.drafts[agent.slug, DraftState.WAITING, None],
        failed=home.drafts[agent.slug, DraftState.FAILED, None],
        spam=sum(home.came[pk].spam for pk in agent.speaks_as if pk in home.came),
        spent=agent.spent or Decimal(0),
        most=agent.settings.money_per_day,
        hours=[home.drafts[agent.slug, DraftState.SENT, hour] for hour in home.hours],
        pace=_pace(home.now),
    )


def _total(rows: Iterable[AgentActivity]) -> DayTotal:
    rows = list(rows)
    return DayTotal(
        sent=sum(row.sent for row in rows),
        held=sum(row.held for row in rows),
        waiting=sum(row.waiting for row in rows),
        failed=sum(row.failed for row in rows),
        spam=sum(row.spam for row in rows),
        spent=sum((row.spent for row in rows), Decimal(0)),
    )


def _pace(now: datetime) -> float:
    """The share of the UTC day that has passed."""
    moment = now.astimezone(UTC)
    passed = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    return passed / timedelta(days=1)


# ── what all of them cost ─────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class DayCost:
    day: date
    amount: Decimal
    column: charts.Column

    @property
    def words(self) -> str:
        return money(self.amount)


@dataclass(frozen=True, kw_only=True)
class CostChart:
    """UTC days, oldest first; the last is today."""

    days: list[DayCost]
    most: Decimal
    drawn: charts.Columns
    pace: float

    @property
    def today(self) -> DayCost:
        return self.days[-1]

    @property
    def most_words(self) -> str:
        return money(self.most)

    @property
    def limit_words(self) -> str:
        return limit(self.most)

    @property
    def forecast(self) -> str:
        """Projected cost of today; "" early in the day."""
        return money(self.today.amount / Decimal(self.pace)) if self.pace > 0.1 else ""

    @cached_property
    def over(self) -> list[DayCost]:
        """Days above the current limit."""
        return [day for day in self.days if day.amount > self.most]

    @property
    def has_days(self) -> bool:
        """Whether two days or more have costs."""
        return sum(1 for day in self.days if day.amount) > 1


def cost_per_day(home: Dashboard) -> HomePanel | None:
    """Cost of all agents in two weeks. None for operators with limited access."""
    if not home.reach.is_whole:
        return None
    return HomePanel(
        template="dialogue/dashboard/_today_cost.html", context={"costs": costs(home.now)}
    )


def costs(now: datetime) -> CostChart:
    """Costs per day and the limit, in one query."""
    today = budget_rules.periods(now)[Period.DAY]
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    books = Spending.objects.filter(owner=HOUSE, period=Period.DAY, starts__in=days)
    limits = SharedBudget.objects.filter(pk=1).annotate(day=Value(None, DateField()))
    kept = books.annotate(day=F("starts"), spent=F("money"), held=F("held_money")).values_list(
        "day", "spent", "held"
    )
    most = limits.annotate(spent=F("money_per_day"), held=Value(Decimal(0))).values_list(
        "day", "spent", "held"
    )
    rows = {day: (money, held) for day, money, held in kept.union(most, all=True)}
    allowed = rows[None][0] if None in rows else SharedBudget().money_per_day
    spent = {day: sum(rows[day]) if day == today else rows[day][0] for day in rows if day}
    amounts = [Decimal(spent.get(day, 0)) for day in days]
    drawn = charts.columns([float(each) for each in amounts], float(allowed))
    return CostChart(
        days=[
            DayCost(day=day, amount=amount, column=column)
            for day, amount, column in zip(days, amounts, drawn.columns, strict=True)
        ],
        most=allowed,
        drawn=drawn,
        pace=_pace(now),
    )


# ── the first run ─────────────────────────────────────────────────────────


def voice_step() -> OnboardingStep:
    """Onboarding step: done when an agent with an account has a model or is external."""
    models = Q(settings__voice=VoiceKind.MODEL, brains__isnull=False)
    speaking = Agent.objects.filter(presences__isnull=False, presences__ended_at=None)
    return OnboardingStep(
        title=_("Add a model to an agent"),
        words=_("Without a model, replies are written from templates. Add one on the Voice page."),
        url=reverse("dialogue:agents"),
        act=_("Open agents"),
        evidence=speaking.filter(models | Q(lives=AgentLocation.ELSEWHERE)),
    )
