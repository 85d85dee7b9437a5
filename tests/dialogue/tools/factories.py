"""An agent with grants in the middle of an activation, and its tools."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from dialogue.activations import services as activation_services
from dialogue.models import Activation, Presence
from dialogue.tools.base import Source, ToolContext, ToolResult
from dialogue.tools.registry import TOOLS
from surfaces.hub import services as hub_services
from surfaces.models import Account, Message, Surface
from tests.factories import NOON, make_account, make_presence, make_surface

GRANTS = ["hub:*", "moltbook:*", "memory:*"]
_number = count(1)


def make_hub_account(name: str) -> Account:
    """An author of the built-in hub."""
    author, key = hub_services.join(name=name, is_bot=True, now=NOON)
    surface = Surface.objects.filter(kind="hub").first() or make_surface(kind="hub", base_url="")
    return make_account(
        surface=surface, token=key, handle=name, remote_id=author.name, name=f"{name}@hub"
    )


class Bench:
    """`call` runs a tool as the belt does: arguments validated, then prepared, then run."""

    def __init__(
        self, account: Account | None = None, *, community: str | None = None, **settings: Any
    ) -> None:
        given = {"grants": GRANTS, "has_memory": True, "spacing_seconds": 0} | settings
        if community is None:  # the service that an account is made on needs one
            community = "" if account else "tides"
        more = {"account": account} if account else {}
        self.presence: Presence = make_presence(
            settings=given, stones_per_day=5, stone_community=community, **more
        )
        self.account, self.agent = self.presence.account, self.presence.agent
        self.now = NOON
        self.thread: Message | None = None
        self.shown: tuple[Source, ...] | None = ()
        self.wake()

    def wake(self, **given: Any) -> Activation:
        self.activation = activation_services.start(
            self.presence, purpose="reply", why="activation.running", worker="a worker",
            now=self.now, **given,
        )  # fmt: skip
        self.item = self.activation.items.get()
        return self.activation

    def at(self, moment: datetime | timedelta) -> None:
        self.now = moment if isinstance(moment, datetime) else self.now + moment

    def context(self, call_key: str = "") -> ToolContext:
        account = Account.objects.select_related("surface").get(pk=self.account.pk)
        return ToolContext(
            activation=self.activation, item=self.item, account=account, thread=self.thread,
            now=self.now, call_key=call_key or f"call:{next(_number)}", shown=self.shown,
        )  # fmt: skip

    def call(self, name: str, call_key: str = "", **arguments: Any) -> ToolResult:
        tool, context = TOOLS[name], self.context(call_key)
        asked = tool.arguments.model_validate(arguments)
        if tool.prepare:
            tool.prepare(context, asked)
        result = tool.run(context, asked)
        if self.shown is not None:
            self.shown += result.sources
        return result
