"""Reserve before a call, settle after it: no reservation, no call.

Four rows guard every call: the agent's day and month, and those of all agents together.
They are locked in one order, so that two workers cannot deadlock.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest

from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE, Period
from dialogue.errors import OutOfBudget
from dialogue.models import Activation, AgentSettings, Reservation, SharedBudget, Spending
from surfaces.extension_points import end_waits
from surfaces.text.reasons import StoredReason


def owner_of(slug: str) -> str:
    return f"agent:{slug}"


def spent(
    slug: str, settings: AgentSettings, *, now: datetime
) -> tuple[StoredReason, datetime] | None:
    rows = rows_of([HOUSE, owner_of(slug)], now)
    return _obstacle(rows, slug, settings, tokens=1, money=Decimal(0), now=now)


def estimate_cost(settings: AgentSettings, tokens_in: int, tokens_out: int) -> Decimal:
    return budget_rules.price(tokens_in, tokens_out, settings.price_in, settings.price_out)


@transaction.atomic
def reserve(
    activation: Activation, settings: AgentSettings, *, tokens: int, money: Decimal, now: datetime
) -> Reservation:
    """Reserve the maximum cost of a request, or raise `OutOfBudget`."""
    rows = with_room(activation.agent.slug, settings, tokens=tokens, money=money, now=now)
    enter(rows, held_tokens=F("held_tokens") + tokens, held_money=F("held_money") + money)
    return Reservation.objects.create(activation=activation, at=now, tokens=tokens, money=money)


@transaction.atomic
def settle(reservation: Reservation, *, tokens: int, money: Decimal, now: datetime) -> bool:
    """Release the reservation and record the cost. False if it was settled before."""
    open_still = Reservation.objects.filter(pk=reservation.pk, settled_at=None)
    if not open_still.update(settled_at=now):
        return False
    # In the periods of the reservation: a request over midnight counts for the day it began.
    enter(
        locked(reservation.activation.agent.slug, reservation.at),
        tokens=F("tokens") + tokens,
        money=F("money") + money,
        held_tokens=Greatest(F("held_tokens") - reservation.tokens, 0),
        held_money=Greatest(F("held_money") - reservation.money, Decimal(0)),
    )
    end_waits(reservation, "settled")
    return True


def settle_abandoned(activation: Activation, *, now: datetime) -> None:
    """Count open reservations as spent: their requests may have been made."""
    for left in Reservation.objects.filter(activation=activation, settled_at=None):
        if settle(left, tokens=left.tokens, money=left.money, now=now):
            tokens, cost = F("tokens_out") + left.tokens, F("cost") + left.money
            row = Activation.objects.filter(pk=activation.pk)
            row.update(tokens_out=tokens, cost=cost, cost_is_guess=True)


def rows_of(owners: Iterable[str], at: datetime) -> QuerySet[Spending]:
    return rows_at(at).filter(owner__in=owners)


def rows_at(at: datetime) -> QuerySet[Spending]:
    """Spending rows of everybody for the day and month of `at`."""
    starts = Q()
    for period, day in budget_rules.periods(at).items():
        starts |= Q(period=period, starts=day)
    return Spending.objects.filter(starts)


def locked(slug: str, at: datetime) -> list[Spending]:
    """Lock the agent's rows and the shared rows, always in the same order."""
    return list(rows_of([HOUSE, owner_of(slug)], at).order_by("pk").select_for_update())


def with_room(
    slug: str, settings: AgentSettings, *, tokens: int, money: Decimal, now: datetime
) -> list[Spending]:
    """Lock the rows, created if missing, and raise `OutOfBudget` if the amount does not fit."""
    for owner in (HOUSE, owner_of(slug)):
        for period, starts in sorted(budget_rules.periods(now).items()):
            Spending.objects.get_or_create(owner=owner, period=period, starts=starts)
    rows = locked(slug, now)
    if found := _obstacle(rows, slug, settings, tokens=tokens, money=money, now=now):
        raise OutOfBudget(found[0], until=found[1])
    return rows


def enter(rows: Iterable[Spending], **facts: Combinable) -> None:
    Spending.objects.filter(pk__in=[row.pk for row in rows]).update(**facts)


def _obstacle(
    rows: Iterable[Spending],
    slug: str,
    settings: AgentSettings,
    *,
    tokens: int,
    money: Decimal,
    now: datetime,
) -> tuple[StoredReason, datetime] | None:
    kept = {(row.owner, row.period): row for row in rows}
    for owner, limits in ((owner_of(slug), settings), (HOUSE, SharedBudget.current())):
        for period in (Period.DAY, Period.MONTH):
            row = kept.get((owner, period), Spending())
            used, most = row.tokens + row.held_tokens, getattr(limits, f"tokens_per_{period}")
            paid, limit = row.money + row.held_money, getattr(limits, f"money_per_{period}")
            if found := budget_rules.exceeded_budget(
                is_shared=owner == HOUSE,
                period=period,
                tokens=(used, tokens, most),
                money=(paid, money, limit),
            ):
                return found, budget_rules.resets_at(period, now)
    return None
