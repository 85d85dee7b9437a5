from datetime import timedelta
from decimal import Decimal
from threading import Barrier, Thread

import pytest
from django.db import connection

from dialogue.activations import services as activation_services
from dialogue.budgets import services as budget_services
from dialogue.errors import OutOfBudget
from dialogue.models import Reservation, SharedBudget, Spending
from tests.factories import NOON, make_agent, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def wake(**settings):
    presence = make_presence(settings=settings)
    return activation_services.start(
        presence, purpose="reply", why="a test", worker="nobody", now=NOON
    ), presence.agent.settings


def books(owner):
    return {
        (row.period, row.tokens, row.held_tokens, row.money, row.held_money)
        for row in Spending.objects.filter(owner=owner)
    }


def test_a_call_is_held_before_and_settled_after_in_four_books():
    woken, settings = wake()
    held = budget_services.reserve(woken, settings, tokens=1000, money=Decimal("0.10"), now=NOON)
    mine, house = f"agent:{woken.agent.slug}", "house"
    for owner in (mine, house):
        assert books(owner) == {
            (period, 0, 1000, Decimal(0), Decimal("0.10")) for period in ("day", "month")
        }
    assert budget_services.settle(held, tokens=700, money=Decimal("0.03"), now=NOON)
    for owner in (mine, house):
        assert books(owner) == {
            (period, 700, 0, Decimal("0.03"), Decimal(0)) for period in ("day", "month")
        }


def test_settling_twice_counts_once():
    woken, settings = wake()
    held = budget_services.reserve(woken, settings, tokens=10, money=Decimal(0), now=NOON)
    assert budget_services.settle(held, tokens=10, money=Decimal(0), now=NOON)
    assert not budget_services.settle(held, tokens=10, money=Decimal(0), now=NOON)
    assert {row.tokens for row in Spending.objects.all()} == {10}


@pytest.mark.parametrize(
    ("settings", "says", "until"),
    [
        (
            {"money_per_day": Decimal("0.05")},
            "money budget for today",
            NOON.replace(hour=0, day=22),
        ),
        (
            {"money_per_month": Decimal("0.05"), "money_per_day": Decimal("0.05")},
            "money budget for today",
            NOON.replace(hour=0, day=22),
        ),
        ({"tokens_per_day": 500}, "token limit for today", NOON.replace(hour=0, day=22)),
    ],
)
def test_no_reservation_beyond_a_budget(settings, says, until):
    woken, kept = wake(**settings)
    with pytest.raises(OutOfBudget, match=says) as refused:
        budget_services.reserve(woken, kept, tokens=1000, money=Decimal("0.10"), now=NOON)
    assert refused.value.until == until
    assert not Reservation.objects.exists()
    assert {row.held_tokens for row in Spending.objects.all()} <= {0}


def test_all_agents_together_have_a_budget_too():
    SharedBudget.objects.create(pk=1, money_per_day=Decimal("0.05"))
    woken, kept = wake()
    with pytest.raises(OutOfBudget, match="shared money budget"):
        budget_services.reserve(woken, kept, tokens=10, money=Decimal("0.10"), now=NOON)


def test_a_spent_budget_is_known_before_anybody_is_woken_and_is_fresh_tomorrow():
    agent = make_agent(settings={"tokens_per_day": 100})
    owner = budget_services.owner_of(agent.slug)
    Spending.objects.create(owner=owner, period="day", starts=NOON.date(), tokens=100)
    said, until = budget_services.spent(agent.slug, agent.settings, now=NOON)
    assert str(said) == "The token limit for today is used up: 100 of 100."
    assert until == NOON.replace(hour=0, day=22)
    assert budget_services.spent(agent.slug, agent.settings, now=until) is None


def test_a_call_over_midnight_belongs_to_the_day_it_began():
    woken, kept = wake()
    late = NOON.replace(hour=23, minute=59)
    held = budget_services.reserve(woken, kept, tokens=10, money=Decimal(0), now=late)
    budget_services.settle(held, tokens=10, money=Decimal(0), now=late + timedelta(minutes=5))
    days = Spending.objects.filter(period="day", owner="house")
    assert {(row.starts, row.tokens, row.held_tokens) for row in days} == {(NOON.date(), 10, 0)}


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_hold_more_than_the_budget():
    presences = [make_presence(settings={"money_per_day": Decimal(1)}) for _ in range(6)]
    SharedBudget.objects.create(pk=1, money_per_day=Decimal("0.50"))
    woken = [
        activation_services.start(p, purpose="reply", why="x", worker="w", now=NOON)
        for p in presences
    ]
    start, refused = Barrier(6), []

    def hold(activation) -> None:
        start.wait(20)
        for _ in range(5):
            try:
                budget_services.reserve(
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
