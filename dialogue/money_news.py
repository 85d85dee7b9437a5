"""Budgets that are used up, as operators hear of it: once for each day or month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from dialogue import budget
from dialogue.models import Agent, AgentSettings, HouseBudget, Spending
from dialogue.models.spending import HOUSE
from dialogue.spending import owner_of
from surfaces.notices.occasions import Occasion

Limits = AgentSettings | HouseBudget


def spent_budgets(now: datetime) -> Iterator[Occasion]:
    """Of all agents together, then of each agent that spent something. Three queries."""
    rows = list(_spent_from(now))
    house = HouseBudget.objects.filter(pk=1).first() or HouseBudget()
    agents = _agents({row.owner for row in rows})
    for row in rows:
        if row.owner == HOUSE:
            yield from _used_up(row, house, now, whose="all agents'")
        elif agent := agents.get(row.owner):
            yield from _used_up(row, agent.settings, now, agent=agent)


def _spent_from(now: datetime) -> Iterator[Spending]:
    starts = Q()
    for period, day in budget.periods(now).items():
        starts |= Q(period=period, starts=day)
    spent = Spending.objects.filter(starts).exclude(tokens=0, money=0)
    return spent.order_by("owner", "period").iterator()


def _agents(owners: set[str]) -> dict[str, Agent]:
    slugs = [owner.partition(":")[2] for owner in owners if owner != HOUSE]
    agents = Agent.objects.filter(slug__in=slugs).select_related("settings").defer("persona")
    return {owner_of(agent.slug): agent for agent in agents}


def _used_up(
    row: Spending, limits: Limits, now: datetime, *, whose: str = "its", agent: Agent | None = None
) -> Iterator[Occasion]:
    why = budget.obstacle(
        whose=whose,
        period=row.period,
        tokens=(row.tokens, 0, getattr(limits, f"tokens_per_{row.period}")),
        money=(row.money, Decimal(0), getattr(limits, f"money_per_{row.period}")),
    )
    if why:
        yield Occasion(
            key=f"{row.period}:{row.starts}:{row.owner}",
            words=f"{agent.name}: {why}" if agent else why,
            since=now,
            agent=agent.slug if agent else "",
        )
