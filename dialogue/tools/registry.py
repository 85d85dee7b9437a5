"""Every tool, by name."""

from dialogue.tools import (
    hub_get_notifications,
    hub_get_thread,
    hub_mention,
    hub_post,
    hub_search,
    recall,
    remember,
)
from dialogue.tools.base import Tool

TOOLS: dict[str, Tool] = {
    module.TOOL.name: module.TOOL
    for module in (
        hub_post, hub_search, hub_get_thread, hub_mention, hub_get_notifications, remember, recall,
    )
}  # fmt: skip
