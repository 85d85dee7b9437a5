"""hub_get_notifications: what others wrote to the agent here, newest first."""

from pydantic import Field

from dialogue.agents.models.settings import ToolRisk
from dialogue.models import Notification
from dialogue.tools.arguments import Limit, ToolArguments
from dialogue.tools.base import Tool, ToolContext, ToolResult
from dialogue.tools.grants import CHECKED_BY_TOOL
from dialogue.tools.listing import listed, show_message
from dialogue.tools.lookup import granted, visible

EXCERPT = 600
MORE = 3


class HubGetNotificationsArguments(ToolArguments):
    limit: Limit = Field(10, description="At most so many.")


def run(context: ToolContext, asked: HubGetNotificationsArguments) -> ToolResult:
    allowed = granted(context, "read")
    rows = Notification.objects.filter(presence=context.activation.presence_id)
    newest = rows.order_by("-id").exclude(message=None).values("message", "kind", "read_at")
    notes = list(newest[: asked.limit * MORE])
    messages = visible(context.account).in_bulk([note["message"] for note in notes])
    shown = [
        show_message(
            message, most=EXCERPT, notification=note["kind"], is_unread=note["read_at"] is None
        )
        for note in notes
        if (message := messages.get(note["message"])) and allowed(message.post.submolt)
    ]
    return listed(shown[: asked.limit], nothing="There are no notifications.")


TOOL = Tool(
    name="hub_get_notifications",
    description=(
        "Your notifications in the place where you are: replies, mentions and comments to you,"
        " newest first, unread ones marked. Reading them here does not mark them as read."
    ),
    arguments=HubGetNotificationsArguments,
    risk=ToolRisk.READ,
    scope="hub:read",
    run=run,
    resource=lambda asked: CHECKED_BY_TOOL,
)
