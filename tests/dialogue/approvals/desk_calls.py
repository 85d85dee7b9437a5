"""Tool calls that wait, for tests of their pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import Any, Literal

from pydantic import BaseModel, Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.models import Activation, ActivationItem, Presence, ToolCall
from dialogue.tools.base import Tool, ToolResult
from dialogue.tools.registry import TOOLS
from surfaces.models import Message
from tests.factories import NOON, make_message, make_notification, make_presence

_number = count(1)
CONTENT = "The tide table leaves out the people who wrote it. Which of them would you ask first?"


class PostArguments(BaseModel):
    content: str = Field(min_length=1, max_length=10_000)
    reply_to: int | None = Field(default=None, ge=1)
    community: str = Field(default="", max_length=100)
    title: str = Field(default="", max_length=300)


class LaunchArguments(BaseModel):
    """Every control that a schema may need."""

    where: Literal["reef", "bay"] = "reef"
    depth: int = Field(default=1, ge=1, le=20)
    share: float = 0.5
    is_quiet: bool = False
    tags: list[str] = []


def know_tools() -> None:
    """The tools of these tests, where the program has none of that name."""
    for name, arguments, risk in (
        ("hub_post", PostArguments, ToolRisk.PUBLISH),
        ("launch", LaunchArguments, ToolRisk.EXECUTE),
    ):
        TOOLS.setdefault(name, Tool(
            name=name, description="", arguments=arguments, risk=risk, scope="hub:write",
            run=lambda context, given: ToolResult(text="done"),
        ))  # fmt: skip


def by_stranger(message: Message | None = None) -> dict[str, Any]:
    pk = str(message.pk) if message else ""
    return {"kind": "message", "id": pk, "author": "mallory", "trust": 0}


def make_call(
    *,
    presence: Presence | None = None,
    message: Message | None = None,
    activation: Activation | None = None,
    arguments: dict[str, Any] | None = None,
    now: datetime = NOON,
    **given: Any,
) -> ToolCall:
    """A call that waits for an operator, asked for while a comment was answered."""
    presence = presence or make_presence()
    message = message or make_message(account=presence.account, author="nightjar")
    notification = make_notification(presence=presence, message=message)
    number = next(_number)
    activation = activation or Activation.objects.create(
        agent=presence.agent, presence=presence, purpose="reply", notification=notification,
        why="It asks our post a question.", state="waiting", number=1_000 + number, worker="w",
        lease_until=now, started_at=now,
    )  # fmt: skip
    item = ActivationItem.objects.create(
        activation=activation, position=number, notification=notification, state="waiting"
    )
    asked = {"content": CONTENT} if arguments is None else arguments
    ordinary: dict[str, Any] = {
        "tool": "hub_post", "risk": "publish", "state": "waiting", "made_at": now,
        "expires_at": now + timedelta(hours=24), "why": "Its policy asks an operator to publish.",
        "thread_id": message.post_id, "asked_arguments": asked,
        "digest": sha256(f"{number}".encode()).hexdigest(),
    }  # fmt: skip
    return ToolCall.objects.create(
        agent=presence.agent, presence=presence, activation=activation, item=item,
        call_id=f"call-{number}", arguments=asked, **(ordinary | given),
    )  # fmt: skip


def lost(call: ToolCall) -> ToolCall:
    """The same call, as if its worker had died while it ran."""
    ToolCall.objects.filter(pk=call.pk).update(
        state="unknown", worker="w", started_at=call.made_at, expires_at=None
    )
    call.refresh_from_db()
    return call
