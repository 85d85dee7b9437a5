"""Panels of agents on Home: activity of today and cost per day.

Drafts are counted in the operator's time zone. Costs are counted per UTC day, as budgets are.
"""

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import DateField, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils.functional import cached_property
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


@dataclass(frozen=True, kw_only=True)
class DayTotal:
    sent: int
    held: int  # written in shadow
    waiting: int  # now
    failed: int  # undecided now
    spam: int  # on its accounts
    spent: Decimal

    @property
    def spent_words(self) -> str:
        return money(self.spent)


@dataclass(frozen=True, kw_only=True)
class AgentActivity(DayTotal):
    """One agent's day. `hours`: sent per hour, the oldest first."""

    agent: Agent
    modes: list[str]
    most: Decimal
    hours: list[int]
    pace: float

    @property
    def most_words(self) -> str:
        return money(self.most)

    @property
    def bar(self) -> charts.Bar:
        return charts.bar(float(self.spent), float(self.most), self.pace)

    @property
    def spark(self) -> charts.Spark:
        return charts.spark(self.hours)


def agents_today(home: Dashboard) -> HomePanel | None:
    """The table of agents. One query in addition to those of Home."""
    today = Spending.objects.filter(
        owner=Concat(Value(owner_of("")), OuterRef("slug")),
        period=Period.DAY,
        starts=budget_rules.periods(home.now)[Period.DAY],
    )
    speaks = Q(presences__ended_at=None)
    accounts = home.reach.accounts
    within = Q() if accounts is None else Q(presences__account__in=accounts)
    found = scope.agents_within(home.reach).select_related("settings").defer("persona", "carried")
    agents: list[Any] = list(
        found.order_by("slug").annotate(
            speaks_as=ArrayAgg("presences__account", filter=speaks, default=[]),
            speaks_in=ArrayAgg(
                "presences__account__mode", filter=speaks & within, distinct=True, default=[]
            ),
            spent=Subquery(today.values(sum=F("money") + F("held_money"))[:1]),
        )[: MOST + 1]
    )
    if not agents:
        return HomePanel(template="dialogue/dashboard/_today_none.html", context={})
    rows = [_did(agent, home) for agent in agents[:MOST]]
    names = [field.name for field in fields(DayTotal)]
    counts: dict[str, Any] = {name: sum(getattr(row, name) for row in rows) for name in names}
    return HomePanel(
        template="dialogue/dashboard/_today_agents.html",
        context={
            "rows": rows,
            "total": DayTotal(**counts),
            "has_more": len(agents) > MOST,
            "hours": home.hours,
            "now": home.now,
        },
    )


def _did(agent: Any, home: Dashboard) -> AgentActivity:
    return AgentActivity(
        agent=agent,
        modes=sorted(filter(None, agent.speaks_in)) or [agent.settings.mode],
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


def _pace(now: datetime) -> float:
    """The share of the UTC day that has passed."""
    moment = now.astimezone(UTC)
    passed = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    return passed / timedelta(days=1)


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
        return [day for day in self.days if day.amount > self.most]

    @property
    def has_days(self) -> bool:
        return sum(1 for day in self.days if day.amount) > 1


def cost_per_day(home: Dashboard) -> HomePanel | None:
    """Cost of all agents in two weeks. None for operators with limited access."""
    if not home.reach.is_whole:
        return None
    template = "dialogue/dashboard/_today_cost.html"
    return HomePanel(template=template, context={"costs": costs(home.now)})


def costs(now: datetime) -> CostChart:
    today = budget_rules.periods(now)[Period.DAY]
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    books = Spending.objects.filter(owner=HOUSE, period=Period.DAY, starts__in=days)
    kept = books.values_list("starts", "money", "held_money")
    limits = SharedBudget.objects.filter(pk=1)
    most = limits.values_list(Value(None, DateField()), "money_per_day", Value(Decimal(0)))
    both = kept.union(most, all=True)
    rows: dict[Any, tuple[Decimal, Decimal]] = {day: (spent, held) for day, spent, held in both}
    allowed = rows[None][0] if None in rows else SharedBudget().money_per_day
    spent = {day: sum(rows[day]) if day == today else rows[day][0] for day in rows if day}
    amounts = [Decimal(spent.get(day, 0)) for day in days]
    drawn = charts.columns([float(each) for each in amounts], float(allowed))
    parts = zip(days, amounts, drawn.columns, strict=True)
    shown = [DayCost(day=day, amount=amount, column=column) for day, amount, column in parts]
    return CostChart(days=shown, most=allowed, drawn=drawn, pace=_pace(now))


def voice_step() -> OnboardingStep:
    """Onboarding step: done when an agent with an account has a model or is external."""
    models = Q(settings__voice=VoiceKind.MODEL, brains__isnull=False)
    speaking = Agent.objects.filter(presences__isnull=False, presences__ended_at=None)
    return OnboardingStep(
        title=_("Add a model to an agent with an account"),
        words=_("Without a model, replies are written from templates. Add one on the Voice page."),
        url=reverse("dialogue:agents"),
        act=_("Open agents"),
        evidence=speaking.filter(models | Q(lives=AgentLocation.ELSEWHERE)),
    )
