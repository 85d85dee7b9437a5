"""Names of settings of agents in the audit log."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "fact.approval_hours": _("time for approval"),
    "fact.approval_mode": _("a call that needs approval"),
    "fact.explore_frequency": _("how often"),
    "fact.explores": _("explore"),
    "fact.explores_discussions": _("join discussions"),
    "fact.explores_questions": _("answer questions"),
    "fact.grants": _("grants"),
    "fact.has_memory": _("use memory"),
    "fact.max_iterations": _("requests per activation"),
    "fact.max_tool_calls": _("tool calls per activation"),
    "fact.memory_items": _("notes in a prompt"),
    "fact.memory_kilobytes": _("size"),
    "fact.memory_strategy": _("which notes"),
    "fact.min_confidence": _("minimum confidence"),
    "fact.money_per_run": _("money per activation"),
    "fact.notifications_per_run": _("notifications per activation"),
    "fact.on_execute": _("tools that run a program"),
    "fact.on_external": _("tools that reach another program"),
    "fact.on_publish": _("tools that publish"),
    "fact.on_read": _("tools that read"),
    "fact.on_write": _("tools that write in the agent's own store"),
    "fact.posts_per_day": _("posts a day"),
    "fact.responds_to_dms": _("respond to direct messages"),
    "fact.responds_to_mentions": _("respond to mentions"),
    "fact.responds_to_replies": _("respond to replies"),
    "fact.seconds_per_run": _("time per activation"),
    "fact.stale_minutes": _("idle time"),
    "fact.tokens_per_run": _("tokens per activation"),
}
