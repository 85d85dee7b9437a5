"""Budgets and limits as meters: used, reserved and maximum."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils.dates import MONTHS
from django.utils.translation import gettext

from dialogue.agents.models.settings import AgentSettings
from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE, Period, SharedBudget, Spending
from dialogue.budgets.services import owner_of, rows_of

LOW, HIGH = Decimal("0.8"), Decimal("0.95")  # from here amber, from here red

money = budget_rules.dollars


def limit(amount: Decimal) -> str:
    """A round sum without cents: "$50"."""
    return f"${amount:,.0f}" if amount == int(amount) else money(amount)


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetMeter:
    label: str
    used: Decimal
    most: Decimal
    held: Decimal = Decimal(0)
    unit: str = ""  # none: US dollars
    until: datetime | None = None  # when it resets
    note: str = ""

    @property
    def words(self) -> str:
        used, most = f"{self.used:,.0f}", f"{self.most:,.0f}"
        if not self.unit:
            used, most = money(self.used), limit(self.most)
        return gettext("{used} of {most}").format(used=used, most=most)

    @property
    def held_words(self) -> str:
        if not self.held:
            return ""
        return money(self.held) if not self.unit else f"{self.held:,.0f} {self.unit}"

    @property
    def is_full(self) -> bool:
        return self.used >= self.most

    # Attributes of the HTML element `meter`; `max` must not be 0.

    @property
    def top(self) -> str:
        return _plain(self.most or Decimal(1))

    @property
    def value(self) -> str:
        return self.top if self.is_full else _plain(self.used)

    @property
    def low(self) -> str:
        return _plain((self.most or Decimal(1)) * LOW)

    @property
    def high(self) -> str:
        return _plain((self.most or Decimal(1)) * HIGH)


def _plain(number: Decimal) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".") or "0"


Books = Mapping[tuple[str, str], Spending]


def spending_rows(slugs: Iterable[str], *, now: datetime) -> Books:
    """Spending of these agents and of all together, this day and month. One query."""
    rows = rows_of([HOUSE, *map(owner_of, slugs)], now)
    return {(row.owner, row.period): row for row in rows}


def meters(
    kept: Books, owner: str, limits: AgentSettings | SharedBudget, *, now: datetime
) -> list[BudgetMeter]:
    """Money of the day and the month, then tokens of both."""
    month = str(MONTHS[budget_rules.periods(now)[Period.MONTH].month])
    labels = {
        ("money", Period.DAY): gettext("Today"),
        ("money", Period.MONTH): month,
        ("tokens", Period.DAY): gettext("Tokens today"),
        ("tokens", Period.MONTH): gettext("Tokens in {month}").format(month=month),
    }
    found = []
    for (what, period), label in labels.items():
        row = kept.get((owner, period))
        held = getattr(row, f"held_{what}", 0)
        found.append(
            BudgetMeter(
                label=label,
                used=Decimal(getattr(row, what, 0) + held),
                held=Decimal(held if period == Period.DAY else 0),  # shown once, for the day
                most=Decimal(getattr(limits, f"{what}_per_{period}")),
                unit="" if what == "money" else gettext("tokens"),
                until=budget_rules.resets_at(period, now),
            )
        )
    return found
