"""What a request may cost, and when a budget says no."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from dialogue.budgets import rules as budget_rules

HONG_KONG = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The tide does not ask the harbour before it comes in.", 12),
        ("潮水进港之前不会先问港口的意见。", 18),
        ("Прилив не спрашивает гавань, прежде чем войти.", 16),
        ("🌊🌊🌊", 6),
        ("", 0),
    ],
)
def test_a_guess_is_too_high_rather_than_too_low(text: str, tokens: int):
    guess = budget_rules.estimated_tokens(text)
    assert tokens <= guess <= tokens * 3


def test_half_a_character_can_be_counted():
    assert budget_rules.estimated_tokens("a\ud800b") >= 1


def test_a_price_is_exact_and_rounded_up_to_a_millionth_of_a_dollar():
    assert budget_rules.price(1_000, 500, Decimal("3"), Decimal("15")) == Decimal("0.0105")
    assert budget_rules.price(1, 0, Decimal("0.15"), Decimal("0.6")) == Decimal("0.000001")
    assert budget_rules.price(0, 0, Decimal("3"), Decimal("15")) == 0


def test_a_day_and_a_month_are_those_of_utc_wherever_we_are():
    early = datetime(2026, 3, 1, 7, 30, tzinfo=HONG_KONG)
    assert budget_rules.periods(early) == {"day": date(2026, 2, 28), "month": date(2026, 2, 1)}


@pytest.mark.parametrize(
    ("now", "tomorrow", "next_month"),
    [
        (datetime(2026, 1, 31, 12, tzinfo=UTC), (2026, 2, 1), (2026, 2, 1)),
        (datetime(2026, 2, 28, 23, 59, tzinfo=UTC), (2026, 3, 1), (2026, 3, 1)),
        (datetime(2026, 12, 31, tzinfo=UTC), (2027, 1, 1), (2027, 1, 1)),
        (datetime(2026, 6, 15, 4, tzinfo=HONG_KONG), (2026, 6, 15), (2026, 7, 1)),
    ],
)
def test_money_comes_back_when_the_next_day_or_month_of_utc_begins(
    now: datetime, tomorrow: tuple[int, int, int], next_month: tuple[int, int, int]
):
    assert budget_rules.resets_at("day", now) == datetime(*tomorrow, tzinfo=UTC)
    assert budget_rules.resets_at("month", now) == datetime(*next_month, tzinfo=UTC)


def obstacle(**given: object) -> str | None:
    ordinary = {
        "period": "day",
        "tokens": (0, 1_500, 200_000),
        "money": (Decimal(0), Decimal("0.01"), Decimal("1")),
    }
    found = budget_rules.exceeded_budget(**ordinary | given)  # type: ignore[arg-type]
    return None if found is None else str(found)


def test_what_fits_exactly_is_no_obstacle():
    assert obstacle() is None
    assert obstacle(money=(Decimal("0.99"), Decimal("0.01"), Decimal("1"))) is None
    assert obstacle(tokens=(198_500, 1_500, 200_000)) is None


def test_what_is_spent_says_how_much_of_how_much():
    spent = (Decimal("1"), Decimal("0"), Decimal("1"))
    assert obstacle(money=spent) == "The money budget for today is used up: $1.00 of $1.00."
    assert obstacle(money=spent, is_shared=True, period="month") == (
        "The shared money budget for this month is used up: $1.00 of $1.00."
    )
    assert obstacle(tokens=(200_000, 1, 200_000), period="month") == (
        "The token limit for this month is used up: 200,000 of 200,000."
    )


def test_what_does_not_reach_says_what_one_more_request_may_take():
    assert obstacle(money=(Decimal("0.98"), Decimal("0.05"), Decimal("1"))) == (
        "The money budget for today is too low: $0.98 of $1.00 is spent or reserved, "
        "and one request may cost $0.05."
    )
    assert obstacle(tokens=(199_000, 1_500, 200_000)) == (
        "The token limit for today is too low: 199,000 of 200,000 are used or reserved, "
        "and one request may use 1,500."
    )


def test_a_tenth_of_a_cent_is_not_shown_as_nothing():
    said = obstacle(money=(Decimal("0.9999"), Decimal("0.0012"), Decimal("1"))) or ""
    assert said.endswith("may cost $0.0012.")


def test_a_budget_of_nothing_allows_nothing_even_for_free():
    assert obstacle(money=(Decimal(0), Decimal(0), Decimal(0)))
    assert obstacle(tokens=(0, 0, 0))
