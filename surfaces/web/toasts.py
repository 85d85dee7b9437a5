"""Toasts: what was done, with undo, shown once on the next page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Undo:
    """The form of an undo button."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)


def show_toast(request: HttpRequest, words: str, *, undo: str = "", **fields: str) -> None:
    """Show what was done. `undo` is a URL to which `fields` are posted to undo it."""
    kept = json.dumps({"url": undo, "fields": fields}) if undo else ""
    messages.success(request, words, extra_tags=kept)


def show_error(request: HttpRequest, words: object) -> None:
    """Show why something was not done."""
    messages.error(request, f"Not done: {words}")


def undo_of(message: Message) -> Undo | None:
    if not message.extra_tags:
        return None
    return Undo(**json.loads(message.extra_tags))
