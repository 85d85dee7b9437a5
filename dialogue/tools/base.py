"""The interface of a tool: its name, arguments, risk and grant, and the function that runs it.

A tool sees a `ToolContext` and its validated arguments. It checks no policy and asks nobody: that
is done before it runs (`dialogue.tools.belt`), at every call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from dialogue.activations.models import Activation, ActivationItem
from dialogue.agents.models.settings import ToolRisk
from dialogue.tools.provenance import Source as Source
from surfaces.models import Account, Draft, Message

LONGEST_RESULT = 16_000  # characters that the model is shown
LONGEST_ARGUMENTS = 64_000  # characters of one call, as JSON


class ToolError(Exception):
    """The call failed. The message is for the model, in English, and holds no secret."""


class FatalToolError(ToolError):
    """No later call can succeed, such as a refused credential: the activation ends with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What the model is told: plain text or JSON, before capping, masking and labelling."""

    text: str
    sources: tuple[Source, ...] = ()  # whose words are in it
    draft: Draft | None = None  # what it wrote, if it publishes


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolContext:
    activation: Activation
    item: ActivationItem
    account: Account  # of the presence, locked if the tool publishes
    thread: Message | None  # the post of the thread at hand
    now: datetime
    call_key: str  # unique for this call: what is written for it is written once
    # Whose text the model was shown so far in this conversation; None if that is not known.
    shown: tuple[Source, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    name: str
    description: str  # for the model
    arguments: type[BaseModel]
    risk: ToolRisk
    scope: str  # service:scope that a grant must allow, e.g. hub:read
    run: Callable[[ToolContext, Any], ToolResult]
    # Of these arguments the third part of the grant, e.g. a community; "" if it has none, and
    # `grants.CHECKED_BY_TOOL` if it is known only when it runs.
    resource: Callable[[Any], str] = lambda arguments: ""
    # What must be done outside any transaction before the call is decided on: it may ask a service
    # for the text that the call is about, and store it. Raises `ToolError`.
    prepare: Callable[[ToolContext, Any], None] | None = None
    # Calls a service: it runs in a thread of its own, outside any transaction.
    is_slow: bool = False
    timeout: float = 10.0  # seconds
    # Whether this presence can use it at all, e.g. its service has a feed.
    is_available: Callable[[Account], bool] = lambda account: True

    def scope_on(self, account: Account) -> str:
        """The scope on this account: `hub` means its service, e.g. moltbook:read."""
        service, _, scope = self.scope.partition(":")
        return f"{account.surface.kind}:{scope}" if service == "hub" else self.scope
