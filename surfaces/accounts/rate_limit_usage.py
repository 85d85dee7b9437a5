"""Read how much of each rate limit an account has left."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from surfaces.accounts.models.account import Account, BadCredential
from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.accounts.rate_limits import address_holder, credential_holder
from surfaces.adapters.limits import RateLimit


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """One rate limit and its current use."""

    bucket: str
    most: int
    used: int
    per: timedelta
    resets_at: datetime | None
    blocked_until: datetime | None

    @property
    def label(self) -> str:
        return self.bucket.replace("_", " ")

    @property
    def left(self) -> int:
        return max(0, self.most - self.used)

    @property
    def low(self) -> float:
        """The bar is amber from here."""
        return self.most * 0.8

    @property
    def high(self) -> float:
        """The bar is red from here."""
        return self.most * 0.95

    @property
    def share(self) -> float:
        """Remaining share: 1.0 is unused, 0.0 is used up or blocked."""
        return 0.0 if self.blocked_until else self.left / self.most


def rate_limit_usage(accounts: Iterable[Account], *, now: datetime) -> dict[int, list[Usage]]:
    """By account id; in one query. An account whose credential cannot be read has none."""
    holders = {account.pk: _holders(account) for account in accounts}
    wanted = {holder for pairs in holders.values() for _, holder in pairs}
    windows = RateLimitWindow.objects.filter(holder__in=wanted)
    rows = {(row.holder, row.bucket): row for row in windows}
    return {
        pk: [_usage(limit, rows.get((holder, limit.bucket)), now) for limit, holder in pairs]
        for pk, pairs in holders.items()
    }


def _holders(account: Account) -> list[tuple[RateLimit, str]]:
    surface = account.surface
    try:
        credential = credential_holder(surface.kind, account.credential)
    except BadCredential:
        return []
    address = address_holder(surface.base_url or surface.traits.base_url)
    return [(limit, address if limit.by_address else credential) for limit in surface.budgets]


def _usage(limit: RateLimit, row: RateLimitWindow | None, now: datetime) -> Usage:
    is_open = row is not None and row.window_ends_at > now
    is_blocked = row is not None and row.blocked_until is not None and row.blocked_until > now
    return Usage(
        bucket=limit.bucket,
        most=limit.most,
        used=row.used if row and is_open else 0,
        per=limit.per,
        resets_at=row.window_ends_at if row and is_open else None,
        blocked_until=row.blocked_until if row and is_blocked else None,
    )
