"""A belt of tools for tests of voices: it notes every call, and does as the test says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import sync_to_async

from dialogue.errors import LimitReached
from dialogue.voice.base import Brief, CallOutcome, ToolOffer
from surfaces.text.reasons import reason

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
WAITS = CallOutcome(is_waiting=True)


@dataclass(frozen=True)
class Made:
    """One call, as the belt saw it."""

    name: str
    arguments: str
    call_id: str


def found(made: Made) -> CallOutcome:
    """What an honest search says; what cannot be read or was not offered is an error."""
    try:
        query = json.loads(made.arguments)["query"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return CallOutcome(text="The arguments are not what the schema asks for.", is_error=True)
    return CallOutcome(text=f"Found three posts about {query}.")


@dataclass
class NotedBelt:
    """`does`: by name, what becomes of a call. Others are unknown."""

    does: dict[str, Callable[[Made], CallOutcome | Awaitable[CallOutcome]]] = field(
        default_factory=lambda: {"hub_search": found}
    )
    granted: Callable[[int], Sequence[str]] = lambda step: ("hub_search",)
    most: int = 30
    outcomes: Mapping[str, CallOutcome] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)
    shown: list[Brief] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)  # ids of the calls that came to an end
    steps: int = 0
    at_once: int = 0
    most_at_once: int = 0
    threads: set[int] = field(default_factory=set)

    def show(self, brief: Brief) -> None:
        self.shown.append(brief)

    def offered(self) -> list[ToolOffer]:
        self.threads.add(threading.get_ident())
        self.steps += 1
        return [
            ToolOffer(name=name, description=f"Does {name}.", schema=SCHEMA)
            for name in self.granted(self.steps)
        ]

    async def call(self, name: str, arguments: str, *, call_id: str) -> CallOutcome:
        made = Made(name, arguments, call_id)
        await sync_to_async(self._count, thread_sensitive=True)(made)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            outcome: Any = self.does.get(name, unknown)(made)
            if asyncio.iscoroutine(outcome):
                outcome = await outcome
        finally:
            self.at_once -= 1
            self.ended.append(call_id)
        return outcome

    def _count(self, made: Made) -> None:
        self.threads.add(threading.get_ident())
        if len(self.made) >= self.most:
            raise LimitReached(reason("activation.calls_used", most=self.most))
        self.made.append(made)

    def decided(self) -> Mapping[str, CallOutcome]:
        return self.outcomes

    @property
    def names(self) -> list[str]:
        return [made.name for made in self.made]


def unknown(made: Made) -> CallOutcome:
    return CallOutcome(text=f"There is no tool {made.name!r}.", is_error=True)


def waits(made: Made) -> CallOutcome:
    return WAITS


async def hangs(made: Made) -> CallOutcome:
    await asyncio.sleep(60)
    raise AssertionError("nobody waits so long")
