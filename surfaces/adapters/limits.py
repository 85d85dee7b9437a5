"""Rate limits as adapters see them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

PLENTY = 50


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `most` requests of `bucket` per `per`, counted by credential or by address."""

    bucket: str
    most: int
    per: timedelta
    by_address: bool = False
    dialects: tuple[str, ...] = ()  # where it holds; empty: in all


class Meter(Protocol):
    """Rate limiter that every request asks first."""

    def take(self, *buckets: str) -> None:
        """Count one request in every bucket, or in none and raise `Limited(asked=False)`."""

    def spare(self, *buckets: str) -> int:
        """How many requests that could wait may be made now."""
        return PLENTY

    def heard(self, bucket: str, *, left: int | None = None, wait: timedelta | None = None) -> None:
        """Store what the service reported: `left` requests, or a `wait`."""


class Unmetered(Meter):
    """A limiter without limits: for tests, and for surfaces without limits."""
