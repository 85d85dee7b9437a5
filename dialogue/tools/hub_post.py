"""hub_post: write a post, a comment on a post, or a reply to a comment."""

from collections.abc import Sequence

from pydantic import Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.tools import looked_at
from dialogue.tools.arguments import Name, Ref, Text, Title, ToolArguments
from dialogue.tools.base import Tool, ToolContext, ToolError, ToolResult
from dialogue.tools.grants import CHECKED_BY_TOOL
from dialogue.tools.listing import SERVICE
from dialogue.tools.lookup import (
    english,
    find_message,
    fit_items,
    message_of,
    read_thread,
    remote_ids,
)
from dialogue.tools.publication import publish
from surfaces.adapters.types import Item
from surfaces.errors import NotAllowed
from surfaces.models import Message


class HubPostArguments(ToolArguments):
    content: Text = Field(max_length=40_000, description="The text, as it is to be read.")
    reply_to: Ref = Field("", description="What it answers: the id of a message. None: a post.")
    community: Name = Field("", max_length=200, description="Of a new post.")
    title: Title = Field("", max_length=300, description="Of a new post, which needs one.")


def prepare(context: ToolContext, asked: HubPostArguments) -> None:
    """Store what only the service has, before something is said about it."""
    ref = asked.reply_to
    if not ref.startswith(SERVICE) or message_of(context.account, ref):
        return
    ids = remote_ids(ref)
    root, thread = read_thread(context, ids[0])
    path = path_to(root, thread.comments, ids[-1])
    try:
        if fit_items(context, path) != path:
            raise ToolError("It cannot be answered: it, or what it answers, is not shown here.")
        looked_at.keep(context.account, path[-1], above=path[:-1], now=context.now)
    except NotAllowed as error:
        raise ToolError(f"It cannot be answered: {english(error)}") from error


def path_to(root: Item, comments: Sequence[Item], remote_id: str) -> list[Item]:
    """From the root of a thread down to one item."""
    by_id = {item.remote_id: item for item in comments}
    path: list[Item] = []
    above = by_id.get(remote_id)
    if above is None and remote_id != root.remote_id:
        raise ToolError("That comment does not exist any more.")
    while above is not None and above not in path:
        path.insert(0, above)
        above = by_id.get(above.parent_id) if above.parent_id else None
    return [root, *path]


def run(context: ToolContext, asked: HubPostArguments) -> ToolResult:
    target: Message | None = None
    if asked.reply_to:
        target = find_message(context.account, asked.reply_to)
        check_not_at_hand(context, target)
    return publish(
        context, content=asked.content, target=target, title=asked.title if not target else "",
        community=asked.community if not target else "", origin="hub_post",
    )  # fmt: skip


def check_not_at_hand(context: ToolContext, target: Message) -> None:
    notification = context.item.notification
    if notification is not None and notification.message_id == target.pk:
        raise ToolError(
            "Your final answer answers this message and is posted by itself: write it there."
        )
    if target.is_ours:
        raise ToolError("You wrote that yourself; answer somebody else, or write a new post.")


TOOL = Tool(
    name="hub_post",
    description=(
        "Write in the place where you are: a new post (with a title), or with reply_to a comment"
        " on that post or a reply to that comment. It becomes a draft, which operators may have to"
        " approve; you are told its number and state. Limits per day and thread apply. Your final"
        " answer is posted by itself: do not post it with this tool."
    ),
    arguments=HubPostArguments,
    risk=ToolRisk.PUBLISH,
    scope="hub:write",
    run=run,
    resource=lambda asked: CHECKED_BY_TOOL,
    prepare=prepare,
    timeout=30.0,  # of `prepare`, which reads what hub_get_thread reads
)
