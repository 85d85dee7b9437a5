"""Explain the random number of a stone: explore below the share, else an interval of the scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogue.stones.choice import rest_of
from dialogue.stones.models import Stone, StoneKind
from surfaces.models import Message


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawShare:
    """One row of the score table with its interval of cumulated shares."""

    row: Mapping[str, Any]
    begins: float
    is_chosen: bool
    is_stored: bool
    x: str
    width: str

    @property
    def ends(self) -> float:
        return self.begins + float(self.row["share"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """The random number of a stone and what it selected."""

    stone: Stone
    parts: list[DrawShare]

    @property
    def explores(self) -> bool:
        return self.stone.draw < self.stone.share

    @property
    def rest(self) -> float:
        return rest_of(self.stone.draw, self.stone.share)

    @property
    def room(self) -> float:
        return 1 - self.stone.share

    @property
    def x(self) -> str:
        return f"{100 * self.stone.draw:.2f}%"

    @property
    def border(self) -> str:
        return f"{100 * self.stone.share:.2f}%"

    @property
    def chosen(self) -> DrawShare | None:
        return next((part for part in self.parts if part.is_chosen), None)


def draw(stone: Stone) -> Draw:
    """Build the explanation. One query: which posts are still stored."""
    posts = [row["post"] for row in stone.table]
    stored = set(Message.objects.filter(pk__in=posts).values_list("pk", flat=True))
    parts, begins, room = [], 0.0, 1 - stone.share
    for row in stone.table:
        parts.append(
            DrawShare(
                row=row,
                begins=begins,
                is_chosen=stone.kind == StoneKind.EXPLOIT and row["post"] == stone.thread_id,
                is_stored=row["post"] in stored,
                x=f"{100 * (stone.share + room * begins):.2f}%",
                width=f"{100 * room * row['share']:.2f}%",
            )
        )
        begins += row["share"]
    return Draw(stone=stone, parts=parts)
