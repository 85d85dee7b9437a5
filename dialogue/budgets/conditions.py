"""Conditions in SQL: whose budget is used up, as `services.spent` says of one agent."""

from datetime import datetime
from typing import Any

from dialogue.budgets import rules as budget_rules
from dialogue.budgets.models import HOUSE, SharedBudget

REACHED = """
    r.period = '{period}' AND r.starts = %({period})s AND (
        r.money + r.held_money >= {limits}.money_per_{period}
        OR r.tokens + r.held_tokens >= {limits}.tokens_per_{period})
"""
EITHER = " OR ".join(
    f"({REACHED.format(period=period, limits='{limits}')})"
    for period in (budget_rules.DAY, budget_rules.MONTH)
)
# A budget of nothing is used up before anything is spent.
NOTHING = """(0 IN ({limits}.money_per_day, {limits}.money_per_month)
    OR 0 IN ({limits}.tokens_per_day, {limits}.tokens_per_month))"""
# Of an agent `a` with settings `s`. The shared budget is asked for once a query.
SPENT = f"""(s.voice = 'model' AND ({NOTHING.format(limits="s")}
    OR EXISTS (SELECT FROM dialogue_spending r
        WHERE r.owner = 'agent:' || a.slug AND ({EITHER.format(limits="s")}) OFFSET 0)
    OR (SELECT bool_or({NOTHING.format(limits="h")} OR EXISTS (
            SELECT FROM dialogue_spending r
            WHERE r.owner = '{HOUSE}' AND ({EITHER.format(limits="h")})))
        FROM (
            SELECT money_per_day, money_per_month, tokens_per_day, tokens_per_month
            FROM dialogue_sharedbudget WHERE id = 1
            UNION ALL
            SELECT %(usual_money_per_day)s, %(usual_money_per_month)s, %(usual_tokens_per_day)s,
                %(usual_tokens_per_month)s
            WHERE NOT EXISTS (SELECT FROM dialogue_sharedbudget WHERE id = 1)
        ) AS h)))
"""  # noqa: S608 - our own text


def values(now: datetime) -> dict[str, Any]:
    """What `SPENT` is given: the periods, and the shared budget that nobody changed."""
    usual = SharedBudget()
    names = ("money_per_day", "money_per_month", "tokens_per_day", "tokens_per_month")
    return budget_rules.periods(now) | {f"usual_{name}": getattr(usual, name) for name in names}
