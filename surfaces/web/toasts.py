"""Toasts: what was done, with undo, shown once on the next page."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest
from django.utils.translation import gettext as _


def show_toast(request: HttpRequest, words: str, *, undo: str = "", **fields: str) -> None:
    """Show what was done. `undo` is a URL to which `fields` are posted to undo it."""
    kept = json.dumps({"url": undo, "fields": fields}) if undo else ""
    messages.success(request, words, extra_tags=kept)


def show_error(request: HttpRequest, words: object) -> None:
    messages.error(request, _("Not done: %(words)s") % {"words": words})


def show_warning(request: HttpRequest, words: str) -> None:
    """Something to look at that nobody did here."""
    messages.error(request, words)


def undo_of(message: Message) -> Any:
    """The `url` and `fields` of the undo button, None without one."""
    return json.loads(message.extra_tags) if message.extra_tags else None
