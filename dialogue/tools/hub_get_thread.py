"""hub_get_thread: a post with its comments."""

from pydantic import Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.tools.arguments import Ref, ToolArguments
from dialogue.tools.base import Tool, ToolContext, ToolError, ToolResult
from dialogue.tools.grants import CHECKED_BY_TOOL
from dialogue.tools.listing import SERVICE, listed, show_item, show_message
from dialogue.tools.lookup import (
    find_message,
    fit_items,
    granted,
    message_of,
    read_thread,
    remote_ids,
    visible,
)
from surfaces.models import Message

NEWEST = 60  # comments
NOT_GRANTED = "You have no grant to read in that community."


class HubGetThreadArguments(ToolArguments):
    post_id: Ref = Field(description="The id of the post, or of a comment in its thread.")


def run(context: ToolContext, asked: HubGetThreadArguments) -> ToolResult:
    stored = message_of(context.account, asked.post_id)
    if stored is None and asked.post_id.startswith(SERVICE):
        return _at_service(context, remote_ids(asked.post_id)[0])
    return _stored(context, find_message(context.account, asked.post_id))


def _stored(context: ToolContext, message: Message) -> ToolResult:
    rows = visible(context.account).filter(post=message.post_id)
    root = rows.filter(pk=message.post_id).first()
    if not granted(context, "read")(message.post.submolt):
        raise ToolError(NOT_GRANTED)
    comments = list(rows.exclude(pk=message.post_id).order_by("-created_at", "-pk")[: NEWEST + 1])
    note = "Older comments are left out." if len(comments) > NEWEST else ""
    shown = [*([root] if root else []), *reversed(comments[:NEWEST])]
    return listed([show_message(row) for row in shown], note)


def _at_service(context: ToolContext, post_id: str) -> ToolResult:
    root, thread = read_thread(context, post_id)
    if not granted(context, "read")(root.community):
        raise ToolError(NOT_GRANTED)
    comments = sorted(thread.comments, key=lambda item: item.created_at)
    fit = fit_items(context, [root, *comments[-NEWEST:]])
    is_whole = thread.is_complete and len(comments) <= NEWEST
    return listed([show_item(item) for item in fit], "" if is_whole else "Some are left out.")


TOOL = Tool(
    name="hub_get_thread",
    description="Read a post with its comments: the post first, then the newest from old to new.",
    arguments=HubGetThreadArguments,
    risk=ToolRisk.READ,
    scope="hub:read",
    run=run,
    resource=lambda asked: CHECKED_BY_TOOL,
    is_slow=True,
    timeout=30.0,
)
