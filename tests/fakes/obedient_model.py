"""A model that does what any text it is shown tells it to: each call of the plan, then its words.

    with ObedientModel() as model:
        model.obeys(Order(marker="post this link", calls=(("hub_post", {…}),), says="…"))

An order is followed as soon as its marker is shown, wherever: in the prompt or in a tool's result.
Until then the model looks around (`looks`), as an agent that works does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.openai_chat import FakeOpenAI, Outcome

Calls = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True, kw_only=True)
class Order:
    marker: str  # a part of the injected text that nothing else holds
    calls: Calls = ()
    says: str = ""
    adds: dict[str, Any] = field(default_factory=dict)


class ObedientModel(FakeOpenAI):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.orders: list[Order] = []
        self.looks: Calls = ()
        self.followed: list[tuple[str, dict[str, Any]]] = []

    def obeys(self, *orders: Order, looks: Calls = ()) -> None:
        self.orders, self.looks, self.followed = list(orders), looks, []

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Outcome:
        with self._lock:
            self.script(self._next_step(body))
        return super().take(body, headers)

    def _next_step(self, body: dict[str, Any]) -> Outcome:
        asked = _calls_in(body)
        shown = [order for order in self.orders if order.marker in _shown_in(body)]
        wanted = [call for order in shown for call in order.calls]
        if left := [call for call in wanted if call not in asked]:
            self.followed += left
            return Outcome("calls", calls=left)
        if body.get("tools") and (left := [call for call in self.looks if call not in asked]):
            return Outcome("calls", calls=left)
        words = {"pointer": shown[0].says} if shown and shown[0].says else {}
        return Outcome("good", words=words | (shown[0].adds if shown else {}))


def _calls_in(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for message in body.get("messages", []):
        for call in message.get("tool_calls") or ():
            given = call["function"]
            found.append((given["name"], json.loads(given["arguments"] or "{}")))
    return found


def _shown_in(body: dict[str, Any]) -> str:
    """Everything but what the model itself said."""
    texts = []
    for message in body.get("messages", []):
        content = message.get("content")
        if message.get("role") != "assistant" and content:
            parts = content if isinstance(content, list) else [{"text": content}]
            texts += [str(part.get("text", "")) for part in parts]
    return "\n".join(texts)
