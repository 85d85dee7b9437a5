"""Estimate the cost of a request and check it against budgets. Pure.

Days and months are those of UTC, so that they are the same for every worker. An estimate
is rather too high than too low; the difference is released when the request is settled.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_UP, Decimal
from math import ceil

from surfaces.text.reasons import StoredReason, reason

DAY, MONTH = "day", "month"
CHARACTERS_PER_TOKEN = 3.5  # per token of plain English, which has 4 or more
BYTES_PER_TOKEN = 2.0  # per token of other text: Chinese has 3 bytes, Cyrillic 2, an emoji 4
MILLIONTH = Decimal("0.000001")  # of a dollar: the precision of the columns


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of `text`, rather too many than too few."""
    plain = len(text.encode("ascii", "ignore"))
    rest = len(text.encode("utf-8", "replace")) - plain
    return ceil(plain / CHARACTERS_PER_TOKEN + rest / BYTES_PER_TOKEN)


def price(
    tokens_in: int, tokens_out: int, per_million_in: Decimal, per_million_out: Decimal
) -> Decimal:
    """Price in US dollars, rounded up to the precision of the columns."""
    exact = (tokens_in * per_million_in + tokens_out * per_million_out) / 1_000_000
    return exact.quantize(MILLIONTH, rounding=ROUND_UP)


def periods(now: datetime) -> dict[str, date]:
    """The day and the month of UTC that `now` is in, each by its first day."""
    today = now.astimezone(UTC).date()
    return {DAY: today, MONTH: today.replace(day=1)}


def resets_at(period: str, now: datetime) -> datetime:
    starts = periods(now)[period]
    following = starts + timedelta(days=1 if period == DAY else 31)
    if period == MONTH:
        following = following.replace(day=1)
    return datetime.combine(following, time(), tzinfo=UTC)


def exceeded_budget(
    *,
    is_shared: bool = False,  # by all agents
    period: str,
    tokens: tuple[int, int, int],
    money: tuple[Decimal, Decimal, Decimal],
) -> StoredReason | None:
    """Return why one more request exceeds the budget, or None.

    Both arguments are (spent or reserved, wanted, allowed). A used-up budget refuses requests
    that cost nothing, too.
    """
    used, _, allowed = money
    if used >= allowed or sum(money[:2]) > allowed:
        amounts = [dollars(amount) for amount in money]
        return _reason("money", is_shared, period, amounts, used >= allowed)
    counted, _, most = tokens
    if counted >= most or sum(tokens[:2]) > most:
        return _reason("tokens", is_shared, period, [f"{n:,}" for n in tokens], counted >= most)
    return None


def _reason(
    what: str, is_shared: bool, period: str, amounts: Sequence[str], is_all_gone: bool
) -> StoredReason:
    used, wanted, allowed = amounts
    whose, how = "shared" if is_shared else period, "spent" if is_all_gone else "short"
    facts = {"used": used, "wanted": wanted, "allowed": allowed}
    return reason(f"budget.{what}_{how}_{whose}", period=reason(f"budget.period_{period}"), **facts)


def dollars(amount: Decimal) -> str:
    """Format with cents, and with more places only for amounts under one cent."""
    return f"${amount:,.2f}" if amount >= Decimal("0.01") or not amount else f"${amount:,.4f}"
