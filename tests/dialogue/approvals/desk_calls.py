"""Tool calls that wait, for tests of their pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any, Literal

from django.utils import timezone
from pydantic import BaseModel, Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals.arguments import digest_of
from dialogue.models import Activation, ActivationItem, Presence, ToolCall
from dialogue.tools import hub_post
from dialogue.tools.base import Tool, ToolResult
from dialogue.tools.registry import TOOLS
from surfaces.models import DeskItem, Message
from tests.factories import make_message, make_notification, make_presence

_number = count(1)
CONTENT = "The tide table leaves out the people who wrote it. Which of them would you ask first?"
HTMX = {"HTTP_HX_REQUEST": "true"}


class LaunchArguments(BaseModel):
    """Every control that a schema may need."""

    where: Literal["reef", "bay"] = "reef"
    depth: int = Field(default=1, ge=1, le=20)
    share: float = 0.5
    is_quiet: bool = False
    tags: list[str] = []


LAUNCH = Tool(
    name="launch", description="", arguments=LaunchArguments, risk=ToolRisk.EXECUTE,
    scope="boat:run", run=lambda context, given: ToolResult(text="done"),
)  # fmt: skip


def know_tools() -> None:
    """The program's own way to publish, and a tool with every kind of argument."""
    for tool in (hub_post.TOOL, LAUNCH):
        TOOLS.setdefault(tool.name, tool)


def by_stranger(message: Message | None = None) -> dict[str, Any]:
    pk = str(message.pk) if message else ""
    return {"kind": "message", "id": pk, "author": "mallory", "trust": 0}


def make_call(
    *,
    presence: Presence | None = None,
    message: Message | None = None,
    activation: Activation | None = None,
    arguments: dict[str, Any] | None = None,
    now: datetime | None = None,
    **given: Any,
) -> ToolCall:
    """A call that waits for an operator, asked for while a comment was answered."""
    now = now or timezone.now()
    presence = presence or granted()
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
    }  # fmt: skip
    call = ToolCall(
        agent=presence.agent, presence=presence, activation=activation, item=item,
        call_id=f"call-{number}", arguments=asked, **(ordinary | given),
    )  # fmt: skip
    call.digest = digest_of(call)
    call.save()
    return call


def make_unknown(call: ToolCall) -> ToolCall:
    """The same call, as if its worker had died while it ran."""
    ToolCall.objects.filter(pk=call.pk).update(
        state="unknown", worker="w", started_at=call.made_at, expires_at=None
    )
    call.refresh_from_db()
    return call


def granted() -> Presence:
    return make_presence(settings={"grants": ["*:*"]})


def item_of(call: ToolCall) -> DeskItem | None:
    return DeskItem.objects.filter(kind__in=["tool_call", "tool_unknown"], item_id=call.pk).first()


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def at(call: ToolCall, act: str = "", kind: str = "tool_call") -> str:
    return f"/desk/{kind}/{call.pk}/{act}"
