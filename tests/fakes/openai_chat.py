"""A server that speaks OpenAI's chat completions on loopback, and fails in every way we know.

    with FakeOpenAI() as fake:
        fake.script("429-retry-after", "good")      # then the default again
        ... ask fake.url ...
        fake.requests[0].user                        # the prompt it saw

It calls tools as it is told, several at once in one answer, and whatever they are called:

    fake.script(Outcome("calls", calls=[("hub_search", {"query": "tides"}), ("no_such", "{")]),
                "good")
    fake.requests[1].results                         # what it was told they returned

Outcomes with calls: "calls", "calls-and-answer", "calls-length" and "calls-cut", which end in the
middle of the last one. A good answer is made from the request: the same prompt gives the same
words, another one others.

As a program: python -m tests.fakes.openai_chat --port 8099 --faults-by-chance 0.2
"""

from __future__ import annotations

import argparse
import json
import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from tests.fakes.loopback import Loopback
from tests.fakes.openai_door import Door, is_known
from tests.fakes.openai_words import Call

# What may strike by chance: things that pass, or that another model may do better.
BY_CHANCE = (
    "429-retry-after", "500", "503", "cut-before", "cut", "malformed", "wrong_schema", "length",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What becomes of one request. `words` replaces the parts of a good answer.

    `calls`: name and arguments of each tool to call, an object or the JSON as it is written; `ids`:
    the first of their ids, call_0 and so on without.
    """

    name: str = "good"
    seconds: float = 30.0  # for those that wait, or ask us to
    words: dict[str, Any] = field(default_factory=dict)
    calls: Sequence[Call] = ()
    ids: Sequence[str] = ()


@dataclass
class Seen:
    """One request, as it arrived."""

    body: dict[str, Any]
    headers: dict[str, str]
    outcome: str

    @property
    def system(self) -> str:
        return "\n".join(_texts(self.body, {"system", "developer"}))

    @property
    def user(self) -> str:
        return "\n".join(_texts(self.body, {"user"}))

    @property
    def results(self) -> list[str]:
        """What it was told that tools returned, in order."""
        return list(_texts(self.body, {"tool"}))

    @property
    def offered(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]


def _texts(body: dict[str, Any], roles: set[str]) -> Iterator[str]:
    for message in body.get("messages", []):
        content = message.get("content")
        if message.get("role") in roles:
            parts = content if isinstance(content, list) else [{"text": content}]
            yield from (str(part.get("text", "")) for part in parts)


class FakeOpenAI(Loopback):
    def __init__(
        self, *, port: int = 0, faults_by_chance: float = 0.0, seed: int = 0, delay: float = 0.0
    ) -> None:
        super().__init__(Door, port=port)
        self.default = Outcome()
        self.requests: list[Seen] = []
        self.delay = delay
        self._chance, self._random = faults_by_chance, random.Random(seed)
        self._next: deque[Outcome] = deque()
        self._lock = RLock()

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def script(self, *outcomes: str | dict[str, Any] | Outcome) -> None:
        """What becomes of the next requests, in this order; afterwards the default again."""
        with self._lock:
            self._next.extend(_outcome(one) for one in outcomes)

    def always(self, outcome: str | Outcome) -> None:
        self.default = _outcome(outcome)

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Outcome:
        with self._lock:
            outcome = self._next.popleft() if self._next else self._drawn()
            self.requests.append(Seen(body, headers, outcome.name))
            return outcome

    def _drawn(self) -> Outcome:
        if self._random.random() >= self._chance:
            return self.default
        return Outcome(self._random.choice(BY_CHANCE), seconds=1.0)


def _outcome(given: str | dict[str, Any] | Outcome) -> Outcome:
    if isinstance(given, str):
        given = {"name": given}
    outcome = Outcome(**given) if isinstance(given, dict) else given
    assert is_known(outcome.name), f"no outcome is called {outcome.name!r}"
    return outcome


def main() -> None:
    options = argparse.ArgumentParser(description="A fake model server for tests.")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--faults-by-chance", type=float, default=0.0, metavar="P")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--delay", type=float, default=0.0, metavar="SECONDS")
    given = options.parse_args()
    with FakeOpenAI(
        port=given.port, faults_by_chance=given.faults_by_chance, seed=given.seed, delay=given.delay
    ) as fake:
        print(json.dumps({"url": fake.url, "admin": f"{fake.root}/_fake/"}), flush=True)
        try:
            fake.closing.wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
