"""A budget that is used up is told once a day or month, to those who may see whose it is."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from dialogue.budgets.notices import spent_budgets
from dialogue.models import Spending
from surfaces.models import Notice
from tests.factories import NOON, make_agent
from tests.surfaces.notices.factories import go_round, make_hearer, make_rule

pytestmark = pytest.mark.django_db


def spend(owner: str, money: str, period: str = "day") -> Spending:
    starts = date(2026, 11, 21) if period == "day" else date(2026, 11, 1)
    return Spending.objects.create(
        owner=owner, period=period, starts=starts, money=Decimal(money), tokens=1
    )


def test_what_is_left_is_no_news(django_assert_num_queries: Any):
    spend("house", "4.99")
    make_agent(slug="iris")
    spend("agent:iris", "0.10")
    with django_assert_num_queries(3):
        assert list(spent_budgets(NOON)) == []


def test_a_spent_budget_says_whose_and_how_much():
    make_agent(slug="iris", name="Iris")
    spend("house", "5")
    spend("agent:iris", "99", "month")
    mine, all_of_us = list(spent_budgets(NOON))
    assert str(all_of_us.words) == "The shared money budget for today is used up: $5.00 of $5.00."
    assert (mine.agent, mine.key) == ("iris", "month:2026-11-01:agent:iris")
    assert str(mine.words).startswith(
        "Iris: The money budget for this month is used up: $99.00 of "
    )
    assert next(iter(spent_budgets(NOON + timedelta(days=1)))).key == mine.key


def test_who_is_limited_to_another_agent_does_not_hear_of_it(clock: Any):
    for slug in ("iris", "otto"):
        make_agent(slug=slug)
        spend(f"agent:{slug}", "99")
    spend("house", "99")
    whole, limited = make_hearer(), make_hearer(agents=["otto"])
    for person in (whole, limited):
        make_rule(person, channel="page")
    go_round(clock)
    go_round(clock)
    heard = Notice.objects.filter(operator=limited).within_reach(limited)
    assert [notice.agent for notice in heard] == ["otto"]
    assert Notice.objects.filter(operator=limited).count() == 1
    assert Notice.objects.filter(operator=whole).count() == 3
