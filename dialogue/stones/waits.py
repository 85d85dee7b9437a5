"""End the waits of stones when their cause ends."""

from datetime import timedelta
from typing import Any

from django.db.models import F, Q
from django.db.models.fields.json import KT

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.budgets.models import SharedBudget
from dialogue.stones import choice
from dialogue.stones.models import Kernel, Stone, StoneState
from surfaces.workers.wait_bounds import AT_MOST_NOW, WaitBound, not_later_than_now

BUDGET = frozenset({
    "money_per_day", "money_per_month", "tokens_per_day", "tokens_per_month", "voice",
    "output_tokens", "price_in", "price_out",
})  # fmt: skip
ATTEMPTS = frozenset({"back_off"})
SLOTS = frozenset({"kernels", "timezone", "stones_per_day", "posts_per_day", "began"})
# Which facts can end a wait: for money, between two attempts, for the next slot.
ENDS: dict[type, frozenset[str]] = {
    Agent: BUDGET | ATTEMPTS | {"kernels", "timezone", "posts_per_day"},
    Presence: frozenset({"stones_per_day", "began"}),
    SharedBudget: BUDGET - {"voice", "output_tokens", "price_in", "price_out"},
}

CHOSEN = not_later_than_now(F("chosen_at"))
BOUNDS = (
    WaitBound(model=Presence, column="next_stone_at", longest=timedelta(hours=25)),
    WaitBound(
        model=Stone, column="look_at", when=Q(state=StoneState.CHOSEN), longest=timedelta(days=1)
    ),
    # Slots, threads and topic seeds are chosen by the last use.
    WaitBound(model=Stone, column="chosen_at", longest=AT_MOST_NOW),
    WaitBound(model=Kernel, column="last_used_at", longest=AT_MOST_NOW),
)  # fmt: skip


def end_waits(row: Any, facts: frozenset[str]) -> None:
    """Make due what waited for these facts."""
    found = facts & ENDS.get(type(row), frozenset())
    if not found:
        return
    theirs = Q()
    if isinstance(row, Agent):
        theirs = Q(presence__agent=row)
    chosen = Stone.objects.filter(theirs, state=StoneState.CHOSEN)
    if found & BUDGET:
        for_money = chosen.alias(code=KT("outcome__code")).filter(code__startswith="budget.")
        for_money.update(look_at=CHOSEN, outcome="")
    if found & ATTEMPTS:
        chosen.update(look_at=CHOSEN)
    if found & SLOTS:
        whose = Q(agent=row) if isinstance(row, Agent) else Q(pk=row.pk)
        for presence in Presence.objects.live().filter(whose):
            _reschedule(presence)


def _reschedule(presence: Presence) -> None:
    """The next may come as soon after the last as the settings of now say."""
    last = presence.stones.order_by("-chosen_at").values_list("chosen_at", flat=True).first()
    at = last + choice.spread(presence.stones_per_day) if last else None
    Presence.objects.filter(pk=presence.pk).update(next_stone_at=at)
