"""Notify operators of used-up budgets, once per day or month."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE
from dialogue.budgets.services import owner_of, rows_at
from dialogue.budgets.shared import current
from dialogue.models import Agent, AgentSettings, SharedBudget, Spending
from surfaces.notices.system_events import SystemEvent
from surfaces.text.reasons import reason


def spent_budgets(now: datetime) -> Iterator[SystemEvent]:
    """Used-up budgets: the shared one, then those of agents. Three queries."""
    spent = rows_at(now).exclude(tokens=0, money=0)
    rows = list(spent.order_by("owner", "period"))
    house = current()
    slugs = [row.owner.partition(":")[2] for row in rows if row.owner != HOUSE]
    agents = Agent.objects.filter(slug__in=slugs).select_related("settings").defer("persona")
    by_owner = {owner_of(agent.slug): agent for agent in agents}
    for row in rows:
        if row.owner == HOUSE:
            yield from _used_up(row, house, now)
        elif agent := by_owner.get(row.owner):
            yield from _used_up(row, agent.settings, now, agent)


def _used_up(
    row: Spending, limits: AgentSettings | SharedBudget, now: datetime, agent: Agent | None = None
) -> Iterator[SystemEvent]:
    why = budget_rules.exceeded_budget(
        is_shared=agent is None,
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
