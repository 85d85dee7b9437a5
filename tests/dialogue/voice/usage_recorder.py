"""A watch that writes everything down, for tests of voices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from surfaces.text.reasons import StoredReason, reason


@dataclass
class Line:
    """One request: what was asked, and how it ended."""

    model: str
    tokens_in: int
    tokens_out: int
    facts: Mapping[str, Any]
    thread: int
    end: str = ""  # answered, failed
    said: dict[str, Any] = field(default_factory=dict)


@dataclass
class Watching:
    """`when_asked` may raise, as the books do; `ends` is looked at every time."""

    when_asked: Callable[[int], None] = lambda number: None
    ends: Callable[[], bool] = lambda: False
    time_left: Callable[[], bool] = lambda: True
    lines: list[Line] = field(default_factory=list)

    def out_of_time(self) -> StoredReason | None:
        return None if self.time_left() else reason("activation.time_used", most=300)

    def is_ending(self) -> bool:
        return self.ends()

    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> int:
        self.when_asked(len(self.lines))
        self.lines.append(Line(model, tokens_in, tokens_out, facts, threading.get_ident()))
        return len(self.lines) - 1

    def answered(
        self,
        ticket: int,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        said = {
            "tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost, "words": words,
            "facts": facts, "took_ms": took_ms,
        }  # fmt: skip
        self._ended(ticket, "answered", said)

    def failed(self, ticket: int, why: str, *, took_ms: int, may_have_cost: bool) -> None:
        said = {"why": str(why), "took_ms": took_ms, "may_have_cost": may_have_cost}
        self._ended(ticket, "failed", said)

    def _ended(self, ticket: int, end: str, said: dict[str, Any]) -> None:
        line = self.lines[ticket]
        assert not line.end, "a request ends once"
        assert line.thread == threading.get_ident(), "in the thread that asked"
        line.end, line.said = end, said

    @property
    def ends_of(self) -> list[str]:
        return [line.end for line in self.lines]
