"""Sentences of runs: what becomes of the items of an activation, and what operators ask of it."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "activation.conversation_too_long": _(
        "The conversation has %(size)s bytes; at most %(most)s are kept while it waits for"
        " approval."
    ),
    "activation.demo_calls": _(
        "An example of the demo: no model was asked, and the tool calls that follow were chosen"
        " beforehand."
    ),
    "activation.explores": _("It was not active for some time and looks for posts to answer."),
    "activation.item_moved": _("Another worker has this item now."),
    "activation.left_for_later": _("The process was stopped before this was begun."),
    "activation.lost_notification": _("The notification was deleted."),
    "activation.nothing_for_reply": _("The voice ended without a reply."),
    "activation.nothing_said": _("Nothing to say: %(words)s"),
    "activation.of_items": _(
        "%(wrote)s drafts written, %(failed)s failed, %(others)s without a reply."
    ),
    "activation.overtaken": _(
        "While a tool call waited for approval, the comment was answered, edited or removed, or the"
        " account was unassigned."
    ),
    "activation.posts_full": _("%(used)s of %(most)s posts allowed per day are used."),
    "activation.posts_full_here": _(
        "%(used)s of %(most)s posts allowed per day through this account are used."
    ),
    "activation.replies_full": _("%(used)s of %(most)s replies allowed per day are used."),
    "activation.requested_explore": _("%(by)s asked for an exploration."),
    "activation.requested_task": _("%(by)s asked for a task."),
    "activation.resumed": _("The tool calls were decided. The conversation goes on."),
    "activation.settled_meanwhile": _("Somebody else settled the comment meanwhile."),
    "activation.stopped_by": _("%(by)s stopped the activation."),
    "activation.suspended": _("Waits for the approval of tool calls."),
    "activation.thread_full": _("%(used)s of %(most)s replies allowed per thread are used."),
    "verdict.not_wanted": _("the agent does not answer notifications of this kind"),
    "verdict.stopped": _("an operator stopped the activation"),
    "verdict.tool_decided": _("its tool calls are decided, and a free worker goes on with it"),
    "verdict.tool_waits_held": _("%(why)s; besides, a tool call waits for approval"),
    "verdict.tool_waits": _("a tool call of its activation waits for approval"),
    "verdict.unknown_kind": _("the program knows no answer to notifications of this kind"),
}
