"""Twelve weeks of precision and recall as bars: x in per cent, y in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surfaces.spam_replay import WEEKS, Week

COLUMN = 100 / WEEKS  # % of the width
HIGH = 48  # px: how high 100 % is
PRECISION, RECALL = 80, 172  # px: where the bars stand


@dataclass(frozen=True, slots=True)
class Bar:
    """One share; none where too few were decided to say."""

    share: float | None
    base: int

    @property
    def height(self) -> str:
        return f"{max(HIGH * (self.share or 0), 1):.1f}"

    @property
    def top(self) -> str:
        return f"{self.base - max(HIGH * (self.share or 0), 1):.1f}"

    @property
    def words_at(self) -> str:
        return f"{self.base - HIGH * (self.share or 0) - 4:.1f}"

    @property
    def words(self) -> str:
        return "–" if self.share is None else str(round(self.share * 100))


@dataclass(frozen=True, slots=True)
class Column:
    week: Week

    @property
    def bars(self) -> tuple[Bar, Bar]:
        return Bar(self.week.precision, PRECISION), Bar(self.week.recall, RECALL)

    @property
    def is_named(self) -> bool:
        """Every second one: more dates would not fit on a phone."""
        return (WEEKS - 1 - self.week.at) % 2 == 0

    @property
    def x(self) -> str:
        return f"{(self.week.at + 0.14) * COLUMN:.2f}%"

    @property
    def middle(self) -> str:
        return f"{(self.week.at + 0.5) * COLUMN:.2f}%"

    @property
    def width(self) -> str:
        return f"{0.72 * COLUMN:.2f}%"


def columns(weeks: Sequence[Week]) -> list[Column]:
    return [Column(week) for week in weeks]
