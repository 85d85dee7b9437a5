"""The number of one stone as it was read: explore below the share, else a place in the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogue.models import Stone
from dialogue.models.stone import StoneKind
from dialogue.stone_choice import rest_of
from surfaces.models import Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One line of the score table, with its place among the cumulated shares."""

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
    """The number of a stone, as it was read."""

    stone: Stone
    parts: list[Part]

    @property
    def explores(self) -> bool:
        """What the number alone says."""
        return self.stone.draw < self.stone.share

    @property
    def rest(self) -> float:
        return rest_of(self.stone.draw, self.stone.share)

    @property
    def room(self) -> float:
        """What is left for exploiting."""
        return 1 - self.stone.share

    @property
    def x(self) -> str:
        return f"{100 * self.stone.draw:.2f}%"

    @property
    def border(self) -> str:
        return f"{100 * self.stone.share:.2f}%"

    @property
    def chosen(self) -> Part | None:
        return next((part for part in self.parts if part.is_chosen), None)


def draw(stone: Stone) -> Draw:
    """One query: which of the posts are stored still."""
    posts = [row["post"] for row in stone.table]
    stored = set(Message.objects.filter(pk__in=posts).values_list("pk", flat=True))
    parts, begins, room = [], 0.0, 1 - stone.share
    for row in stone.table:
        parts.append(
            Part(
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
