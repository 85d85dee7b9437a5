"""Pool: the kind of work that a worker takes (activations, 1)."""

from enum import StrEnum


class Pool(StrEnum):
    NOTIFICATION = "notification"
    EXPLORATION = "exploration"
    HYBRID = "hybrid"  # notifications first, exploration if there are none

    @property
    def answers(self) -> bool:
        return self is not Pool.EXPLORATION

    @property
    def explores(self) -> bool:
        return self is not Pool.NOTIFICATION
