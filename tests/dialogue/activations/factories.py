"""Rows of activations for tests: items, tool calls, notes."""

from __future__ import annotations

from itertools import count
from typing import Any

from dialogue.models import Activation, ActivationItem, Agent, Memory, ToolCall
from tests.factories import NOON

_number = count(1)


def make_item(activation: Activation, **given: Any) -> ActivationItem:
    """The next thing it looks at; by default done with nothing to say."""
    position = given.pop("position", 0) or activation.items.count() + 1
    ordinary = {"state": "nothing", "why": "Nothing to say.",
                "started_at": NOON, "ended_at": NOON}  # fmt: skip
    item, _ = ActivationItem.objects.update_or_create(
        activation=activation, position=position, defaults=ordinary | given
    )
    return item


def make_tool_call(item: ActivationItem, **given: Any) -> ToolCall:
    number = next(_number)
    activation = item.activation
    ordinary = {
        "agent": activation.agent, "presence": activation.presence, "activation": activation,
        "call_id": f"call-{number}", "tool": "hub_search", "risk": "read",
        "arguments": {"query": f"tides {number}"}, "asked_arguments": {"query": f"tides {number}"},
        "digest": f"{number:064x}", "state": "done", "made_at": NOON, "ended_at": NOON,
        "result": "3 posts", "took_ms": 120,
    }  # fmt: skip
    return ToolCall.objects.create(**(ordinary | given), item=item)


def make_memory(agent: Agent, **given: Any) -> Memory:
    ordinary = {"words": f"Tides turn {next(_number)}.", "topic": "tides", "made_at": NOON}
    return Memory.objects.create(**(ordinary | given), agent=agent)
