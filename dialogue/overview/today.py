"""What home shows of this floor: what each agent did today, and what all of them cost.

Sent, held and waiting are counted in the zone of the person who looks. Money has days of UTC,
as the budgets do, so its pace is that of the UTC day.
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

from dialogue import budget, presences
from dialogue.models import Agent, HouseBudget, Spending
from dialogue.models.agent import Lives
from dialogue.models.settings import VoiceKind
from dialogue.models.spending import HOUSE, Period
from dialogue.overview.figures import limit, money
from dialogue.spending import owner_of
from surfaces import charts
from surfaces.first_steps import Step
from surfaces.models.draft import State
from surfaces.overview import Home, Panel

MOST = 50  # agents in the table; the page of agents shows them all
DAYS = 14  # of cost in the chart


# ── what each did ─────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Did:
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
class Total:
    sent: int
    held: int
    waiting: int
    failed: int
    spam: int
    spent: Decimal

    @property
    def spent_words(self) -> str:
        return money(self.spent)


def agents_today(home: Home) -> Panel | None:
    """The table of agents. One query, beside what home asked for anyway."""
    agents = list(_agents(home)[: MOST + 1])
    if not agents:
        return Panel(template="dialogue/_today_none.html", context={})
    rows = [_did(agent, home) for agent in agents[:MOST]]
    return Panel(
        template="dialogue/_today_agents.html",
        context={
            "rows": rows,
            "total": _total(rows),
            "has_more": len(agents) > MOST,
            "hours": home.hours,
            "now": home.now,
        },
    )


def _agents(home: Home) -> Any:
    """By slug, with the accounts each speaks through and what it spent in this day of UTC."""
    today = Spending.objects.filter(
        owner=Concat(Value(owner_of("")), OuterRef("slug")),
        period=Period.DAY,
        starts=budget.periods(home.now)[Period.DAY],
    )
    rows = presences.agents_within(home.reach)
    rows = rows.select_related("settings").defer("persona", "carried").order_by("slug")
    return rows.annotate(
        speaks_as=ArrayAgg("presences__account", filter=Q(presences__ended_at=None), default=[]),
        spent=Subquery(today.values(sum=F("money") + F("held_money"))[:1]),
    )


def _did(agent: Any, home: Home) -> Did:
    return Did(
        agent=agent,
        mode=agent.settings.mode,
        sent=home.sent_today[agent.slug],
        held=home.drafts[agent.slug, State.SHADOWED, None],
        waiting=home.drafts[agent.slug, State.WAITING, None],
        failed=home.drafts[agent.slug, State.FAILED, None],
        spam=sum(home.came[pk].spam for pk in agent.speaks_as if pk in home.came),
        spent=agent.spent or Decimal(0),
        most=agent.settings.money_per_day,
        hours=[home.drafts[agent.slug, State.SENT, hour] for hour in home.hours],
        pace=_pace(home.now),
    )


def _total(rows: Iterable[Did]) -> Total:
    rows = list(rows)
    return Total(
        sent=sum(row.sent for row in rows),
        held=sum(row.held for row in rows),
        waiting=sum(row.waiting for row in rows),
        failed=sum(row.failed for row in rows),
        spam=sum(row.spam for row in rows),
        spent=sum((row.spent for row in rows), Decimal(0)),
    )


def _pace(now: datetime) -> float:
    """The share of the day of UTC that has passed."""
    moment = now.astimezone(UTC)
    passed = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    return passed / timedelta(days=1)


# ── what all of them cost ─────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Day:
    day: date
    amount: Decimal
    column: charts.Column

    @property
    def words(self) -> str:
        return money(self.amount)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Days of UTC, the oldest first; the last is today and not over."""

    days: list[Day]
    most: Decimal
    drawn: charts.Columns
    pace: float

    @property
    def today(self) -> Day:
        return self.days[-1]

    @property
    def most_words(self) -> str:
        return money(self.most)

    @property
    def limit_words(self) -> str:
        return limit(self.most)

    @property
    def forecast(self) -> str:
        """Where today ends if it goes on like this; "" too early to say."""
        return money(self.today.amount / Decimal(self.pace)) if self.pace > 0.1 else ""

    @cached_property
    def over(self) -> list[Day]:
        """Days that went over what is the limit now."""
        return [day for day in self.days if day.amount > self.most]

    @property
    def has_days(self) -> bool:
        """A chart says something from the second day on."""
        return sum(1 for day in self.days if day.amount) > 1


def cost_per_day(home: Home) -> Panel | None:
    """Two weeks of what all agents together cost. Not for who sees only some of them."""
    if not home.reach.is_whole:
        return None
    return Panel(template="dialogue/_today_cost.html", context={"costs": costs(home.now)})


def costs(now: datetime) -> Costs:
    """One query: the days, and beside them the limit, which is of no day."""
    today = budget.periods(now)[Period.DAY]
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    books = Spending.objects.filter(owner=HOUSE, period=Period.DAY, starts__in=days)
    limits = HouseBudget.objects.filter(pk=1).annotate(day=Value(None, DateField()))
    kept = books.annotate(day=F("starts"), spent=F("money"), held=F("held_money")).values_list(
        "day", "spent", "held"
    )
    most = limits.annotate(spent=F("money_per_day"), held=Value(Decimal(0))).values_list(
        "day", "spent", "held"
    )
    rows = {day: (money, held) for day, money, held in kept.union(most, all=True)}
    allowed = rows[None][0] if None in rows else HouseBudget().money_per_day
    spent = {day: sum(rows[day]) if day == today else rows[day][0] for day in rows if day}
    amounts = [Decimal(spent.get(day, 0)) for day in days]
    drawn = charts.columns([float(each) for each in amounts], float(allowed))
    return Costs(
        days=[
            Day(day=day, amount=amount, column=column)
            for day, amount, column in zip(days, amounts, drawn.columns, strict=True)
        ],
        most=allowed,
        drawn=drawn,
        pace=_pace(now),
    )


# ── the first run ─────────────────────────────────────────────────────────


def voice_step() -> Step:
    """Done when some agent's words come from more than the template."""
    models = Q(settings__voice=VoiceKind.MODEL, brains__isnull=False)
    speaking = Agent.objects.filter(presences__isnull=False, presences__ended_at=None)
    return Step(
        title=_("Give an agent a voice"),
        words=_(
            "Until you choose a model for it, or it lives elsewhere, it speaks from a template."
        ),
        url=reverse("dialogue:agents"),
        act=_("Choose an agent"),
        evidence=speaking.filter(models | Q(lives=Lives.ELSEWHERE)),
    )
