"""Reserve before a call, settle after it: no reservation, no call.

Four rows guard every call: the agent's day and month, and those of all agents together.
They are locked in one order, so that two workers never wait for each other.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest

from dialogue import budget
from dialogue.errors import OutOfBudget
from dialogue.models import Activation, AgentSettings, HouseBudget, Reservation, Spending
from dialogue.models.spending import HOUSE, Period


def owner_of(slug: str) -> str:
    return f"agent:{slug}"


def spent(slug: str, settings: AgentSettings, *, now: datetime) -> tuple[str, datetime] | None:
    """Which budget has nothing left for another call, and until when; None while all have."""
    return _obstacle(_rows(slug, now, lock=False), slug, settings, tokens=1, money=Decimal(0),
                     now=now)  # fmt: skip


@transaction.atomic
def reserve(
    activation: Activation, settings: AgentSettings, *, tokens: int, money: Decimal, now: datetime
) -> Reservation:
    """Hold what a call may cost, or raise `OutOfBudget`."""
    slug = activation.agent.slug
    for owner in (HOUSE, owner_of(slug)):
        for period, starts in _periods(now):
            Spending.objects.get_or_create(owner=owner, period=period, starts=starts)
    rows = _rows(slug, now, lock=True)
    if found := _obstacle(rows, slug, settings, tokens=tokens, money=money, now=now):
        raise OutOfBudget(found[0], until=found[1])
    Spending.objects.filter(pk__in=[row.pk for row in rows.values()]).update(
        held_tokens=F("held_tokens") + tokens, held_money=F("held_money") + money
    )
    return Reservation.objects.create(activation=activation, at=now, tokens=tokens, money=money)


@transaction.atomic
def settle(reservation: Reservation, *, tokens: int, money: Decimal, now: datetime) -> bool:
    """Give back what was held and write down what was spent. Once; False the second time."""
    open_still = Reservation.objects.filter(pk=reservation.pk, settled_at=None)
    if not open_still.update(settled_at=now):
        return False
    slug = reservation.activation.agent.slug
    # In the periods it was held in: a call over midnight belongs to the day it began.
    held_in = _which(slug, reservation.at)
    locked = Spending.objects.filter(held_in).order_by("pk").select_for_update()
    Spending.objects.filter(pk__in=[row.pk for row in locked]).update(
        tokens=F("tokens") + tokens,
        money=F("money") + money,
        held_tokens=Greatest(F("held_tokens") - reservation.tokens, 0),
        held_money=Greatest(F("held_money") - reservation.money, Decimal(0)),
    )
    return True


def settle_left(activation: Activation, *, now: datetime) -> None:
    """Calls that nobody told the end of may have happened: what they held counts as spent."""
    for left in Reservation.objects.filter(activation=activation, settled_at=None):
        if settle(left, tokens=left.tokens, money=left.money, now=now):
            Activation.objects.filter(pk=activation.pk).update(
                tokens_out=F("tokens_out") + left.tokens,
                cost=F("cost") + left.money,
                cost_is_guess=True,
            )


def _periods(now: datetime) -> list[tuple[str, date]]:
    return sorted(budget.periods(now).items())


def _which(slug: str, at: datetime) -> Q:
    starts = Q()
    for period, day in _periods(at):
        starts |= Q(period=period, starts=day)
    return starts & Q(owner__in=[HOUSE, owner_of(slug)])


def _rows(slug: str, now: datetime, *, lock: bool) -> dict[tuple[str, str], Spending]:
    rows = Spending.objects.filter(_which(slug, now)).order_by("pk")
    found = rows.select_for_update() if lock else rows
    return {(row.owner, row.period): row for row in found}


def _obstacle(
    rows: dict[tuple[str, str], Spending],
    slug: str,
    settings: AgentSettings,
    *,
    tokens: int,
    money: Decimal,
    now: datetime,
) -> tuple[str, datetime] | None:
    """The first budget that this does not fit into, in words, and when it is fresh again."""
    for owner, limits in ((owner_of(slug), settings), (HOUSE, HouseBudget.current())):
        whose = "all agents'" if owner == HOUSE else "its"
        for period in (Period.DAY, Period.MONTH):
            row = rows.get((owner, period))
            found = budget.obstacle(
                whose=whose,
                period=period,
                tokens=(row.tokens + row.held_tokens if row else 0, tokens,
                        getattr(limits, f"tokens_per_{period}")),
                money=(row.money + row.held_money if row else Decimal(0), money,
                       getattr(limits, f"money_per_{period}")),
            )  # fmt: skip
            if found:
                return found, budget.resets_at(period, now)
    return None
