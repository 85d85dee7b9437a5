"""Enforce rate limits across all processes that read and write.

Every bucket is one row, changed in one statement. Reading leaves a part of each bucket to
delivery, which has priority.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.adapters.limits import RateLimit
from surfaces.errors import Limited
from surfaces.text.reasons import reason

KEPT_FOR_SENDING = 5  # one part in so many
DAY = timedelta(days=1)
CLOCKS_DIFFER = timedelta(minutes=1)  # between our hosts
RATE_SPENT = "account.rate_spent"  # a limit of ours is used up
ENDLESS = 1_000_000  # a bucket without a limit of its own

TAKE = """
INSERT INTO surfaces_ratelimitwindow AS a (holder, bucket, used, window_ends_at)
VALUES (%(holder)s, %(bucket)s, 1, %(ends)s)
ON CONFLICT (holder, bucket) DO UPDATE SET
    used = CASE WHEN OPEN THEN a.used + 1 ELSE 1 END,
    window_ends_at = CASE WHEN OPEN THEN a.window_ends_at ELSE %(ends)s END
WHERE (a.blocked_until IS NULL OR a.blocked_until <= %(now)s)
  AND (NOT OPEN OR a.used < %(most)s)
RETURNING used
""".replace("OPEN", "(a.window_ends_at > %(now)s AND a.window_ends_at <= %(latest)s)")
READY_AT = """
SELECT GREATEST(blocked_until, CASE WHEN used >= %(most)s THEN window_ends_at END)
FROM surfaces_ratelimitwindow WHERE holder = %(holder)s AND bucket = %(bucket)s
"""
BLOCKED = """
SELECT holder, bucket, blocked_until FROM surfaces_ratelimitwindow
WHERE holder IN (%(credential)s, %(address)s) AND blocked_until > %(now)s
"""
HEARD = """
INSERT INTO surfaces_ratelimitwindow AS a (holder, bucket, used, window_ends_at, blocked_until)
VALUES (%(holder)s, %(bucket)s, %(used)s, %(ends)s, %(blocked)s)
ON CONFLICT (holder, bucket) DO UPDATE SET
    used = CASE WHEN a.window_ends_at > %(now)s THEN GREATEST(a.used, %(used)s) ELSE a.used END,
    blocked_until = GREATEST(a.blocked_until, %(blocked)s)
"""


class SharedMeter:
    """Rate limiter of one credential at one address, stored in the database."""

    def __init__(
        self,
        limits: Iterable[RateLimit],
        *,
        credential: str,
        address: str,
        sends: bool,
        clock: Callable[[], datetime],
    ) -> None:
        self._limits: Mapping[str, RateLimit] = {limit.bucket: limit for limit in limits}
        self._credential, self._address = credential, address
        self._sends, self._clock = sends, clock
        self.requests = 0

    def take(self, *buckets: str) -> None:
        now = self._clock()
        limits = {name: self._limits.get(name) or RateLimit(name, ENDLESS, DAY) for name in buckets}
        self._refuse_blocked(limits, now)
        counted = [limit for limit in limits.values() if limit.most < ENDLESS]
        if counted:
            # All or none: if one bucket refuses, no other is charged.
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit TO off")
                for limit in counted:
                    self._take_one(cursor, limit, now)
        self.requests += 1

    def _refuse_blocked(self, limits: Mapping[str, RateLimit], now: datetime) -> None:
        """Refuse while the service asked to wait. One query for all buckets."""
        with connection.cursor() as cursor:
            holders = {"credential": self._credential, "address": self._address}
            cursor.execute(BLOCKED, holders | {"now": now})
            blocked = [
                (until, bucket)
                for holder, bucket, until in cursor.fetchall()
                if bucket in limits and holder == self._holder(limits[bucket])
            ]
        if blocked:
            until, bucket = max(blocked)
            why = reason("account.asked_to_wait", bucket=bucket)
            raise Limited(why, wait=until - now, asked=False)

    def _take_one(self, cursor: CursorWrapper, limit: RateLimit, now: datetime) -> None:
        most = limit.most
        facts: dict[str, Any] = {
            "holder": self._holder(limit),
            "bucket": limit.bucket,
            "now": now,
            "ends": now + limit.per,
            # A window that ends later was written with a wrong clock.
            "latest": now + limit.per + CLOCKS_DIFFER,
            "most": limit.most if self._sends else max(1, most - most // KEPT_FOR_SENDING),
        }
        cursor.execute(TAKE, facts)
        if cursor.fetchone():
            return
        cursor.execute(READY_AT, facts)
        row = cursor.fetchone()
        ready_at = row[0] if row and row[0] else now + timedelta(seconds=1)
        wait = max(ready_at - now, timedelta(seconds=1))
        raise Limited(reason(RATE_SPENT, bucket=limit.bucket), wait=wait, asked=False)

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        limit = self._limits.get(bucket)
        if limit is None and wait is None:
            return
        limit = limit or RateLimit(bucket, ENDLESS, DAY)
        now = self._clock()
        facts: dict[str, Any] = {
            "holder": self._holder(limit),
            "bucket": bucket,
            "now": now,
            "used": 0 if left is None else max(0, limit.most - left),
            "ends": now + limit.per,
            "blocked": now + wait if wait else None,
        }
        with connection.cursor() as cursor:
            cursor.execute(HEARD, facts)

    def _holder(self, limit: RateLimit) -> str:
        return self._address if limit.by_address else self._credential


def credential_holder(kind: str, token: str) -> str:
    """Digest of a credential, as its name."""
    return f"{kind}:{hashlib.sha256(token.encode()).hexdigest()[:32]}"


def clear_waits(kind: str, token: str) -> None:
    """Clear waits that the service asked for, because an operator says they are over."""
    RateLimitWindow.objects.filter(holder=credential_holder(kind, token)).update(blocked_until=None)


def address_holder(url: str) -> str:
    return f"address:{urlsplit(url).netloc}"
