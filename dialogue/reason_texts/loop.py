"""Sentences of the loop: limits of one activation, tools that fail for good."""

from typing import Any

from django.utils.translation import gettext_lazy as _

TEXTS: dict[str, Any] = {
    "activation.calls_used": _("The limit of %(most)s tool calls per activation is reached."),
    "activation.iterations_used": _("The limit of %(most)s requests per activation is reached."),
    "activation.money_used": _(
        "The next request could exceed the limit of $%(most)s per activation; $%(spent)s is spent."
    ),
    "activation.time_used": _("The limit of %(most)s seconds per activation is reached."),
    "activation.tokens_used": _(
        "The next request could exceed the limit of %(most)s tokens per activation; %(used)s are"
        " used."
    ),
    "voice.conversation_too_long": _(
        "The conversation is too long to be kept until its tool calls are decided."
    ),
    "voice.conversation_unreadable": _(
        "The stored conversation cannot be read, perhaps because of an update. It starts anew."
    ),
}
