"""Say what was done, to whom, and how to undo it: on the next page, once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Undo:
    """A form that takes something back."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)


def say(request: HttpRequest, words: str, *, undo: str = "", **fields: str) -> None:
    """Tell what was done. `undo` is a URL that takes it back when `fields` are posted to it."""
    kept = json.dumps({"url": undo, "fields": fields}) if undo else ""
    messages.success(request, words, extra_tags=kept)


def refuse(request: HttpRequest, words: object) -> None:
    """Tell why something was not done."""
    messages.error(request, f"Not done: {words}")


def undo_of(message: Message) -> Undo | None:
    if not message.extra_tags:
        return None
    return Undo(**json.loads(message.extra_tags))
