"""Enforce rate limits across all processes that read and write.

Every bucket is one row, changed in one statement. It holds the time of each request of its
period, so no period of that length ever has more than is allowed. Reading leaves a part of each
bucket to delivery, which has priority.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from surfaces.accounts.models.rate_limit import RateLimitWindow
from surfaces.adapters.limits import PLENTY, RateLimit
from surfaces.errors import Limited
from surfaces.text.reasons import reason

KEPT_FOR_SENDING = 5  # one part in so many
DAY = timedelta(days=1)
CLOCKS_DIFFER = timedelta(minutes=1)  # between our hosts
RATE_SPENT = "account.rate_spent"  # a limit of ours is used up
ENDLESS = 1_000_000  # a bucket without a limit of its own

# Requests of the last `per`. Later ones were written with a wrong clock.
RECENT = """ARRAY(
    SELECT t FROM unnest(a.taken) AS t WHERE t > %(since)s AND t <= %(latest)s ORDER BY t
)"""
TAKE = f"""
INSERT INTO surfaces_ratelimitwindow AS a (holder, bucket, used, window_ends_at, taken)
VALUES (%(holder)s, %(bucket)s, 1, %(ends)s, ARRAY[%(now)s]::timestamptz[])
ON CONFLICT (holder, bucket) DO UPDATE SET
    taken = {RECENT} || %(now)s::timestamptz,
    used = cardinality({RECENT}) + 1,
    window_ends_at = %(ends)s
WHERE (a.blocked_until IS NULL OR a.blocked_until <= %(now)s)
  AND cardinality({RECENT}) < %(most)s
RETURNING used
"""  # noqa: S608
READY_AT = f"""
SELECT GREATEST(blocked_until, ({RECENT})[cardinality({RECENT}) - %(most)s + 1] + %(per)s)
FROM surfaces_ratelimitwindow AS a WHERE holder = %(holder)s AND bucket = %(bucket)s
"""  # noqa: S608
USED = f"""
SELECT cardinality({RECENT}) FROM surfaces_ratelimitwindow AS a
WHERE holder = %(holder)s AND bucket = %(bucket)s
"""  # noqa: S608
BLOCKED = """
SELECT holder, bucket, blocked_until FROM surfaces_ratelimitwindow
WHERE holder IN (%(credential)s, %(address)s) AND blocked_until > %(now)s
"""
HEARD = f"""
INSERT INTO surfaces_ratelimitwindow AS a
    (holder, bucket, used, window_ends_at, blocked_until, taken)
VALUES (%(holder)s, %(bucket)s, %(used)s, %(ends)s, %(blocked)s,
    array_fill(%(now)s::timestamptz, ARRAY[%(used)s]))
ON CONFLICT (holder, bucket) DO UPDATE SET
    taken = {RECENT} || array_fill(
        %(now)s::timestamptz, ARRAY[GREATEST(0, %(used)s - cardinality({RECENT}))]),
    used = GREATEST(cardinality({RECENT}), %(used)s),
    window_ends_at = CASE WHEN %(used)s > cardinality({RECENT})
        THEN %(ends)s ELSE a.window_ends_at END,
    blocked_until = GREATEST(a.blocked_until, %(blocked)s)
"""  # noqa: S608


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
        sharers: int = 1,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        """`sharers`: accounts that share the limits of the address. `shared`: buckets that are
        counted by address, also where no limit of theirs is known.
        """
        self._limits: Mapping[str, RateLimit] = {limit.bucket: limit for limit in limits}
        self._credential, self._address = credential, address
        self._sends, self._clock, self._sharers = sends, clock, max(1, sharers)
        self._shared = shared | {
            limit.bucket for limit in self._limits.values() if limit.by_address
        }
        self.requests = 0

    def take(self, *buckets: str) -> None:
        now = self._clock()
        limits = {name: self._limit(name) for name in buckets}
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
        most = limit.most if self._sends else max(1, limit.most - limit.most // KEPT_FOR_SENDING)
        facts = self._window(limit, now) | {"most": most}
        cursor.execute(TAKE, facts)
        if cursor.fetchone():
            return
        cursor.execute(READY_AT, facts)
        row = cursor.fetchone()
        ready_at = row[0] if row and row[0] else now + timedelta(seconds=1)
        wait = max(ready_at - now, timedelta(seconds=1))
        raise Limited(reason(RATE_SPENT, bucket=limit.bucket), wait=wait, asked=False)

    def spare(self, *buckets: str) -> int:
        """How many requests that could wait may be made now: half of what is allowed, at most.
        Of a limit that several accounts share, each uses its part.
        """
        now, least = self._clock(), PLENTY
        with connection.cursor() as cursor:
            for limit in filter(None, map(self._limits.get, buckets)):
                cursor.execute(USED, self._window(limit, now))
                used = (cursor.fetchone() or [0])[0]
                half = limit.most // 2
                part = half // self._sharers if limit.by_address else half
                least = min(least, part, half - used)
        return max(0, least)

    def _window(self, limit: RateLimit, now: datetime) -> dict[str, Any]:
        return {
            "holder": self._holder(limit),
            "bucket": limit.bucket,
            "now": now,
            "per": limit.per,
            "since": now - limit.per,
            "latest": now + CLOCKS_DIFFER,
            "ends": now + limit.per,
        }

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        limit = self._limits.get(bucket)
        if limit is None and wait is None:
            return
        limit = self._limit(bucket)
        now = self._clock()
        if wait and left is not None:  # a reset, not a refusal: no longer than the limit's period
            wait = min(wait, limit.per + CLOCKS_DIFFER)
        facts = self._window(limit, now) | {
            "used": 0 if left is None or limit.most == ENDLESS else max(0, limit.most - left),
            "blocked": now + wait if wait else None,
        }
        with connection.cursor() as cursor:
            cursor.execute(HEARD, facts)

    def _limit(self, name: str) -> RateLimit:
        unknown = RateLimit(name, ENDLESS, DAY, by_address=name in self._shared)
        return self._limits.get(name) or unknown

    def _holder(self, limit: RateLimit) -> str:
        return self._address if limit.by_address else self._credential


def credential_holder(kind: str, token: str) -> str:
    """Digest of a credential, as its name."""
    return f"{kind}:{hashlib.sha256(token.encode()).hexdigest()[:32]}"


def clear_waits(kind: str, token: str, url: str) -> None:
    """Clear waits that the service asked for, of the credential and of the address that counts
    requests, because an operator says they are over.
    """
    holders = [credential_holder(kind, token), address_holder(url)]
    RateLimitWindow.objects.filter(holder__in=holders).update(blocked_until=None)


def address_holder(url: str) -> str:
    return f"address:{urlsplit(url).netloc}"
