"""Guess what a request costs, and say when a budget does not reach for it. Pure.

Days and months are those of UTC, so that they are the same for every worker. A guess
is a little too high rather than too low: what is held too much is given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_UP, Decimal
from math import ceil

DAY, MONTH = "day", "month"
CHARACTERS_PER_TOKEN = 3.5  # of plain English, which has 4 and more
BYTES_PER_TOKEN = 2.0  # of everything else: Chinese has 3 bytes, Cyrillic 2, a smiley 4
MILLIONTH = Decimal("0.000001")  # of a dollar: what the books can hold

_NAMES = {DAY: "today", MONTH: "this month"}


def estimated_tokens(text: str) -> int:
    """About how many tokens a model counts in `text`, rather too many than too few."""
    plain = len(text.encode("ascii", "ignore"))
    rest = len(text.encode("utf-8", "replace")) - plain
    return ceil(plain / CHARACTERS_PER_TOKEN + rest / BYTES_PER_TOKEN)


def price(
    tokens_in: int, tokens_out: int, per_million_in: Decimal, per_million_out: Decimal
) -> Decimal:
    """In US dollars, rounded up to what the books can hold."""
    exact = (tokens_in * per_million_in + tokens_out * per_million_out) / 1_000_000
    return exact.quantize(MILLIONTH, rounding=ROUND_UP)


def periods(now: datetime) -> dict[str, date]:
    """The day and the month of UTC that `now` is in, each by its first day."""
    today = now.astimezone(UTC).date()
    return {DAY: today, MONTH: today.replace(day=1)}


def resets_at(period: str, now: datetime) -> datetime:
    """When the next day or month of UTC begins."""
    starts = periods(now)[period]
    following = starts + timedelta(days=1 if period == DAY else 31)
    if period == MONTH:
        following = following.replace(day=1)
    return datetime.combine(following, time(), tzinfo=UTC)


def obstacle(
    *,
    whose: str,  # its, or e.g. all agents'
    period: str,
    tokens: tuple[int, int, int],
    money: tuple[Decimal, Decimal, Decimal],
) -> str | None:
    """Why one more request does not fit, in a sentence; None if it does.

    Both are (spent or held, wanted, allowed). What is used up is an obstacle even for a
    request that costs nothing: a budget of nothing allows nothing.
    """
    used, _, allowed = money
    if used >= allowed or sum(money[:2]) > allowed:
        return _sentence(
            "money is", whose, period, [dollars(each) for each in money], used >= allowed
        )
    counted, _, most = tokens
    if counted >= most or sum(tokens[:2]) > most:
        return _sentence("tokens are", whose, period, [f"{n:,}" for n in tokens], counted >= most)
    return None


def _sentence(what: str, whose: str, period: str, amounts: Sequence[str], is_all_gone: bool) -> str:
    what, be = what.split()
    used, wanted, allowed = amounts
    name = _NAMES[period]
    mine = f"{name}'s {what}" if whose == "its" else f"{whose} {what} for {name}"
    begin = mine[0].upper() + mine[1:]
    if is_all_gone:
        return f"{begin} {be} spent: {used} of {allowed}."
    return (
        f"{begin} would not reach: {used} of {allowed} {be} spent or held, "
        f"and one more request may take {wanted}."
    )


def dollars(amount: Decimal) -> str:
    """Cents, and more places only where cents would show nothing."""
    return f"${amount:,.2f}" if amount >= Decimal("0.01") or not amount else f"${amount:,.4f}"
