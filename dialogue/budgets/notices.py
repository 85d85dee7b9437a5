"""Notify operators of used-up budgets, once per day or month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from django.db.models import Q

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.settings import AgentSettings
from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE, SharedBudget, Spending
from dialogue.budgets.services import owner_of
from surfaces.notices.system_events import SystemEvent
from surfaces.text.reasons import reason

Limits = AgentSettings | SharedBudget


def spent_budgets(now: datetime) -> Iterator[SystemEvent]:
    """Used-up budgets: the shared one, then those of agents. Three queries."""
    rows = list(_spent_from(now))
    house = SharedBudget.objects.filter(pk=1).first() or SharedBudget()
    agents = _agents({row.owner for row in rows})
    for row in rows:
        if row.owner == HOUSE:
            yield from _used_up(row, house, now, is_shared=True)
        elif agent := agents.get(row.owner):
            yield from _used_up(row, agent.settings, now, agent=agent)


def _spent_from(now: datetime) -> Iterator[Spending]:
    starts = Q()
    for period, day in budget_rules.periods(now).items():
        starts |= Q(period=period, starts=day)
    spent = Spending.objects.filter(starts).exclude(tokens=0, money=0)
    return spent.order_by("owner", "period").iterator()


def _agents(owners: set[str]) -> dict[str, Agent]:
    slugs = [owner.partition(":")[2] for owner in owners if owner != HOUSE]
    agents = Agent.objects.filter(slug__in=slugs).select_related("settings").defer("persona")
    return {owner_of(agent.slug): agent for agent in agents}


def _used_up(
    row: Spending,
    limits: Limits,
    now: datetime,
    *,
    is_shared: bool = False,
    agent: Agent | None = None,
) -> Iterator[SystemEvent]:
    why = budget_rules.exceeded_budget(
        is_shared=is_shared,
        period=row.period,
        tokens=(row.tokens, 0, getattr(limits, f"tokens_per_{row.period}")),
        money=(row.money, Decimal(0), getattr(limits, f"money_per_{row.period}")),
    )
    if why:
        yield SystemEvent(
            key=f"{row.period}:{row.starts}:{row.owner}",
            words=reason("budget.of_agent", name=agent.name, why=why) if agent else why,
            since=now,
            agent=agent.slug if agent else "",
        )
