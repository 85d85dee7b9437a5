"""Draw numbers as SVG attributes: lines, columns, bars. Pure: figures in, places out.

A picture that carries text has no viewBox: x in % of the width and y in px, so that letters
keep their size on a phone. Every picture stands beside its figures in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# A line beside a row, in its own 96 x 24.
WIDE, HIGH, TOP, FLOOR = 96, 24, 3, 22
# Columns, in px: where they stand, how high the limit or the highest of them is.
BASE, FULL = 124, 96
FILL = 0.72  # of its place that a column fills
WARM = 0.8  # of a limit: from here a bar is amber


@dataclass(frozen=True, slots=True)
class Spark:
    """A line with its area and the dot of now."""

    line: str
    area: str
    x: str
    y: str


def spark(values: Sequence[float]) -> Spark:
    """The oldest value first. All the same as nothing: a line on the floor."""
    most = max(values, default=0) or 1
    step = WIDE / max(len(values) - 1, 1)
    heights = [FLOOR - (FLOOR - TOP) * max(value, 0) / most for value in values] or [FLOOR]
    points = [f"{at * step:.1f} {height:.1f}" for at, height in enumerate(heights)]
    if len(points) == 1:  # one hour is no line yet: show it as level
        points = [points[0], f"{WIDE:.1f} {heights[0]:.1f}"]
    line = "M" + " L".join(points)
    return Spark(line, f"{line} L{WIDE} {HIGH} L0 {HIGH} Z", *points[-1].split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """The place of one column among `of`, in % of the width."""

    at: int
    of: int

    @property
    def x(self) -> str:
        return f"{(self.at + (1 - FILL) / 2) * 100 / self.of:.2f}%"

    @property
    def middle(self) -> str:
        return f"{(self.at + 0.5) * 100 / self.of:.2f}%"

    @property
    def width(self) -> str:
        return f"{FILL * 100 / self.of:.2f}%"

    @property
    def is_now(self) -> bool:
        return self.at == self.of - 1

    @property
    def is_named(self) -> bool:
        """Every second one: more names would not fit on a phone."""
        return (self.of - 1 - self.at) % 2 == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Column(Slot):
    """One column, in px. At least a hair where there is anything at all."""

    height: str
    top: str
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    columns: list[Column]
    limit: str  # y of the dashed line; "" without a limit
    limit_label: str  # y of its name
    half: str = f"{BASE - FULL / 2:.1f}"
    base: str = str(BASE)


def columns(values: Sequence[float], limit: float | None = None) -> Columns:
    """The limit stands at full height, unless something went far beyond it."""
    most = max([*values, limit or 0]) or 1
    drawn = []
    for at, value in enumerate(values):
        height = max(FULL * max(value, 0) / most, 1.0 if value > 0 else 0.0)
        is_over = limit is not None and value > limit
        size = {"height": f"{height:.1f}", "top": f"{BASE - height:.1f}"}
        drawn.append(Column(at=at, of=len(values), is_over=is_over, **size))
    line = BASE - FULL * limit / most if limit is not None else None
    return Columns(
        drawn,
        limit="" if line is None else f"{line:.1f}",
        limit_label="" if line is None else f"{line - 6:.1f}",
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """How much of a limit is used, and a tick for where it would be if spent evenly."""

    width: str
    pace: str  # x of the tick; "" without
    css: str  # "", "hi" from 80 %, "over" at the limit


def bar(used: float, most: float, pace: float | None = None) -> Bar:
    """`pace`: the share of the time that has passed, 0 to 1."""
    share = used / most if most > 0 else float(used > 0)
    css = "over" if used >= most and used > 0 else "hi" if share >= WARM else ""
    tick = "" if pace is None else f"{min(max(pace, 0.0), 1.0) * 99.3:.1f}"
    return Bar(f"{min(max(share, 0.0), 1.0) * 100:.1f}", tick, css)
