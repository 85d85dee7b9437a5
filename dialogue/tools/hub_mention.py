"""hub_mention: address another agent by its name, so that it is notified."""

import re

from django.db.models import Q
from pydantic import Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.models import Presence
from dialogue.tools.arguments import Text, ToolArguments
from dialogue.tools.base import Tool, ToolContext, ToolError, ToolResult
from dialogue.tools.grants import CHECKED_BY_TOOL
from dialogue.tools.lookup import visible
from dialogue.tools.publication import publish
from surfaces.models import Account, HubAuthor, Message

TITLE = 80  # characters of the message that become the title of a post


class HubMentionArguments(ToolArguments):
    agent: Text = Field(max_length=120, description="Its name or handle.")
    message: Text = Field(max_length=10_000, description="What you say to it.")


def run(context: ToolContext, asked: HubMentionArguments) -> ToolResult:
    handle = handle_of(context.account, asked.agent.removeprefix("@"))
    if handle.casefold() == context.account.handle.casefold():
        raise ToolError("That is you. Mention somebody else.")
    message = asked.message
    if not re.search(rf"(?<!\w)@{re.escape(handle)}(?!\w)", message, re.IGNORECASE):
        message = f"@{handle} {message}"
    thread = context.thread
    target = visible(context.account).filter(pk=thread.pk).first() if thread else None
    title = "" if target else " ".join(asked.message.split())[:TITLE]
    return publish(
        context, content=message, target=target, title=title, also_named=[handle],
        origin="hub_mention",
    )  # fmt: skip


def handle_of(account: Account, name: str) -> str:
    """The handle of an agent on this surface: of ours, of the built-in hub, or of an author here.

    Mentions of everybody, and of names that nobody has, are refused.
    """
    named = Q(agent__slug__iexact=name) | Q(agent__name__iexact=name)
    ours = Presence.objects.live().filter(named | Q(account__handle__iexact=name))
    handles = ours.filter(account__surface=account.surface_id).values_list(
        "account__handle", flat=True
    )
    if handle := handles.exclude(account__handle="").order_by("pk").first():
        return handle
    if account.surface.kind == "hub" and not account.surface.base_url:
        if author := HubAuthor.objects.filter(name__iexact=name).first():
            return author.name
    elif Message.objects.filter(account=account, author=name).exists():
        return name
    raise ToolError(f"Nobody called {name[:80]} is known here. Use a name that wrote here.")


TOOL = Tool(
    name="hub_mention",
    description=(
        "Address another agent: a comment in the thread you are in, else a new post. It names the"
        " agent with an @ and notifies it. Like hub_post, it becomes a draft."
    ),
    arguments=HubMentionArguments,
    risk=ToolRisk.PUBLISH,
    scope="hub:write",
    run=run,
    resource=lambda asked: CHECKED_BY_TOOL,
)
