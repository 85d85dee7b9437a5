from datetime import timedelta
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from dialogue import activations, spending
from dialogue.errors import OutOfBudget
from dialogue.models import HouseBudget, Reservation, Spending
from tests.factories import NOON, make_agent, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def wake(**settings):
    presence = make_presence(settings=settings)
    return activations.begin(
        presence, purpose="reply", why="a test", worker="nobody", now=NOON
    ), presence.agent.settings


def books(owner):
    return {
        (row.period, row.tokens, row.held_tokens, row.money, row.held_money)
        for row in Spending.objects.filter(owner=owner)
    }


def test_a_call_is_held_before_and_settled_after_in_four_books():
    woken, settings = wake()
    held = spending.reserve(woken, settings, tokens=1000, money=Decimal("0.10"), now=NOON)
    mine, house = f"agent:{woken.agent.slug}", "house"
    for owner in (mine, house):
        assert books(owner) == {
            (period, 0, 1000, Decimal(0), Decimal("0.10")) for period in ("day", "month")
        }
    assert spending.settle(held, tokens=700, money=Decimal("0.03"), now=NOON)
    for owner in (mine, house):
        assert books(owner) == {
            (period, 700, 0, Decimal("0.03"), Decimal(0)) for period in ("day", "month")
        }


def test_settling_twice_counts_once():
    woken, settings = wake()
    held = spending.reserve(woken, settings, tokens=10, money=Decimal(0), now=NOON)
    assert spending.settle(held, tokens=10, money=Decimal(0), now=NOON)
    assert not spending.settle(held, tokens=10, money=Decimal(0), now=NOON)
    assert {row.tokens for row in Spending.objects.all()} == {10}


@pytest.mark.parametrize(
    ("settings", "says", "until"),
    [
        ({"money_per_day": Decimal("0.05")}, "Today's money", NOON.replace(hour=0, day=22)),
        (
            {"money_per_month": Decimal("0.05"), "money_per_day": Decimal("0.05")},
            "Today's money",
            NOON.replace(hour=0, day=22),
        ),
        ({"tokens_per_day": 500}, "Today's tokens", NOON.replace(hour=0, day=22)),
    ],
)
def test_no_reservation_beyond_a_budget(settings, says, until):
    woken, kept = wake(**settings)
    with pytest.raises(OutOfBudget, match=says) as refused:
        spending.reserve(woken, kept, tokens=1000, money=Decimal("0.10"), now=NOON)
    assert refused.value.until == until
    assert not Reservation.objects.exists()
    assert {row.held_tokens for row in Spending.objects.all()} <= {0}


def test_all_agents_together_have_a_budget_too():
    HouseBudget.objects.create(pk=1, money_per_day=Decimal("0.05"))
    woken, kept = wake()
    with pytest.raises(OutOfBudget, match="All agents"):
        spending.reserve(woken, kept, tokens=10, money=Decimal("0.10"), now=NOON)


def test_a_spent_budget_is_known_before_anybody_is_woken_and_is_fresh_tomorrow():
    agent = make_agent(settings={"tokens_per_day": 100})
    owner = spending.owner_of(agent.slug)
    Spending.objects.create(owner=owner, period="day", starts=NOON.date(), tokens=100)
    said, until = spending.spent(agent.slug, agent.settings, now=NOON)
    assert said == "Today's tokens are spent: 100 of 100."
    assert until == NOON.replace(hour=0, day=22)
    assert spending.spent(agent.slug, agent.settings, now=until) is None


def test_a_call_over_midnight_belongs_to_the_day_it_began():
    woken, kept = wake()
    late = NOON.replace(hour=23, minute=59)
    held = spending.reserve(woken, kept, tokens=10, money=Decimal(0), now=late)
    spending.settle(held, tokens=10, money=Decimal(0), now=late + timedelta(minutes=5))
    days = Spending.objects.filter(period="day", owner="house")
    assert {(row.starts, row.tokens, row.held_tokens) for row in days} == {(NOON.date(), 10, 0)}


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_hold_more_than_the_budget():
    presences = [make_presence(settings={"money_per_day": Decimal(1)}) for _ in range(6)]
    HouseBudget.objects.create(pk=1, money_per_day=Decimal("0.50"))
    woken = [
        activations.begin(p, purpose="reply", why="x", worker="w", now=NOON) for p in presences
    ]
    start, refused = Barrier(6), []

    def hold(activation) -> None:
        start.wait(20)
        for _ in range(5):
            try:
                spending.reserve(
                    activation, activation.agent.settings, tokens=1, money=Decimal("0.05"), now=NOON
                )
            except OutOfBudget:
                refused.append(1)
        connection.close()

    threads = [Thread(target=hold, args=[one]) for one in woken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    house = Spending.objects.get(owner="house", period="day")
    assert house.held_money == Decimal("0.50")
    assert len(refused) == 20
    assert Reservation.objects.count() == 10
