"""Conditions on agents' rows: whose budget is used up, as `services.spent` says of one agent."""

from datetime import datetime
from typing import Any

from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Concat

from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE, SharedBudget, Spending

WHAT = ("tokens", "money")
PERIODS = (budget_rules.DAY, budget_rules.MONTH)
LIMITS = [f"{what}_per_{period}" for what in WHAT for period in PERIODS]


def is_spent(now: datetime) -> Q:
    """Agents whose voice costs money and whose budget, or the shared one, is used up."""
    owner = Concat(Value("agent:"), OuterRef("slug"), output_field=CharField())
    own = {name: OuterRef(f"settings__{name}") for name in LIMITS}
    used_up = Q(Exists(_used_up(owner, own, now))) | _is_zero("settings__")
    return Q(settings__voice=VoiceKind.MODEL) & (used_up | _house_is_spent(now))


def _house_is_spent(now: datetime) -> Q:
    """Does not depend on the agent: asked once a query."""
    house, usual = SharedBudget.objects.filter(pk=1), SharedBudget()
    limits = {
        name: Coalesce(Subquery(house.values(name)), Value(getattr(usual, name)))
        for name in LIMITS
    }  # fmt: skip
    return Q(Exists(_used_up(Value(HOUSE), limits, now))) | Q(Exists(house.filter(_is_zero(""))))


def _used_up(owner: Any, limits: dict[str, Any], now: datetime) -> QuerySet[Spending]:
    over = Q()
    for period, starts in budget_rules.periods(now).items():
        reached = Q(paid__gte=limits[f"money_per_{period}"])
        reached |= Q(used__gte=limits[f"tokens_per_{period}"])
        over |= Q(period=period, starts=starts) & reached
    rows = Spending.objects.filter(owner=owner)
    return rows.alias(
        used=F("tokens") + F("held_tokens"), paid=F("money") + F("held_money")
    ).filter(over)


def _is_zero(prefix: str) -> Q:
    """A budget of nothing is used up before anything is spent."""
    zero = Q()
    for name in LIMITS:
        zero |= Q(**{f"{prefix}{name}": 0})
    return zero
