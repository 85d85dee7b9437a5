"""Draw numbers as SVG attributes: lines, columns, bars. Pure: figures in, places out.

A picture that carries text has no viewBox: x in % of the width and y in px, so that letters
keep their size on a phone. Every picture stands beside its figures in words.
"""

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
    def left(self) -> str:
        return f"{self.at * 100 / self.of:.2f}%"

    @property
    def right(self) -> str:
        return f"{(self.at + 1) * 100 / self.of:.2f}%"

    @property
    def is_now(self) -> bool:
        return self.at == self.of - 1

    @property
    def is_named(self) -> bool:
        """Every second one: more names would not fit on a phone."""
        return (self.of - 1 - self.at) % 2 == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Column(Slot):
    """A column of `share` times `full` px above `base`; None for nothing to say."""

    share: float | None
    base: int = BASE
    full: int = FULL
    least: float = 0.0  # px: a hair where there is anything at all
    is_over: bool = False

    @property
    def height(self) -> str:
        return f"{self._high:.1f}"

    @property
    def top(self) -> str:
        return f"{self.base - self._high:.1f}"

    @property
    def words_at(self) -> str:
        return f"{self.y_of(self.share) - 4:.1f}"

    @property
    def words(self) -> str:
        return "–" if self.share is None else str(round(self.share * 100))

    def y_of(self, share: float | None) -> float:
        return self.base - self.full * (share or 0)

    @property
    def _high(self) -> float:
        return max(self.full * (self.share or 0), self.least)


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
    drawn = [
        Column(
            at=at,
            of=len(values),
            share=max(value, 0) / most,
            least=1.0 if value > 0 else 0.0,
            is_over=limit is not None and value > limit,
        )
        for at, value in enumerate(values)
    ]
    if limit is None:
        return Columns(drawn, limit="", limit_label="")
    line = BASE - FULL * limit / most
    return Columns(drawn, limit=f"{line:.1f}", limit_label=f"{line - 6:.1f}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A bar `length` % of the width long that begins at `start` %, `y` px from the top."""

    length: float
    start: float = 0.0
    y: int = 0
    pace: str = ""  # x of a tick for where a limit would be if spent evenly
    css: str = ""  # of a limit: "hi" from 80 %, "over" at it

    @property
    def width(self) -> str:
        return f"{self.length:.1f}"

    @property
    def end(self) -> str:
        """Where words behind it begin."""
        return f"{self.start + self.length + 1.5:.1f}"

    @property
    def words_at(self) -> int:
        return self.y + 10


def bar(used: float, most: float, pace: float | None = None) -> Bar:
    """How much of a limit is used. `pace`: the share of the time that has passed, 0 to 1."""
    share = used / most if most > 0 else float(used > 0)
    css = "over" if used >= most and used > 0 else "hi" if share >= WARM else ""
    tick = "" if pace is None else f"{min(max(pace, 0.0), 1.0) * 99.3:.1f}"
    return Bar(length=min(max(share, 0.0), 1.0) * 100, pace=tick, css=css)
