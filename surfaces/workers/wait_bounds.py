"""Pull back what a clock that ran ahead once put too far into the future.

Each package says how far ahead of now its columns may be. The heartbeat of every process pulls
back the rest once a minute, so that nothing waits longer than its own interval allows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, Model, Q, QuerySet, Value
from django.db.models.expressions import Combinable, ExpressionWrapper
from django.db.models.functions import Least, Now

from surfaces.extension_points import extensions

CLOCKS_DIFFER = timedelta(minutes=1)  # between our hosts
AT_MOST_NOW = timedelta()
LONGEST_SERVICE_WAIT = timedelta(days=1)  # what a service asks beyond is asked for again then


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitBound:
    """How far ahead of now `column` may be, in the rows that `when` selects.

    `clears`: further columns that hold only with it; such a row is due at once.
    """

    model: type[Model]
    column: str
    longest: timedelta | Combinable
    when: Q = field(default_factory=Q)
    clears: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.model._meta.model_name}.{self.column}"

    def too_far(self, now: datetime) -> QuerySet[Model]:
        latest = self._latest(now + CLOCKS_DIFFER)
        return self.model._base_manager.filter(self.when, **{f"{self.column}__gt": latest})

    def pull_back(self, now: datetime) -> int:
        to = now if self.clears else self._latest(now)
        return self.too_far(now).update(**{self.column: to}, **self.clears)

    def _latest(self, now: datetime) -> datetime | ExpressionWrapper[Any]:
        if isinstance(self.longest, timedelta):
            return now + self.longest
        at = Value(now, DateTimeField()) + self.longest
        return ExpressionWrapper(at, DateTimeField())


def wait_bounds() -> Iterator[WaitBound]:
    for found in extensions():
        yield from found.wait_bounds


def pull_back(*, now: datetime) -> int:
    """Return how many values were too far ahead."""
    return sum(bound.pull_back(now) for bound in wait_bounds())


def too_far_ahead(*, now: datetime) -> dict[str, int]:
    """How many rows, by model and column. Reads only."""
    counts: dict[str, int] = {}
    for bound in wait_bounds():
        if count := bound.too_far(now).count():
            counts[bound.name] = counts.get(bound.name, 0) + count
    return counts


def not_later_than_now(at: Combinable) -> Combinable:
    """A moment in the past, for a column that may hold one of a clock that ran ahead."""
    return Least(at, Now())
