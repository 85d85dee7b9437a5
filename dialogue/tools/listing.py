"""Texts of a surface as a model is shown them: one JSON object a line, with its source.

Ids are those that other tools take: the number of a stored message, or `item:…` for what only the
service has.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dialogue.memory.models import Trust
from dialogue.tools.base import Source, ToolResult
from surfaces.adapters.types import Item
from surfaces.models import Message

MOST_OF_TEXT = 2_000  # characters of one text
MOST_OF_TITLE = 300
MOST_OF_NAME = 120
ROOM = 14_000  # characters of all lines
SERVICE = "item:"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownText:
    source: Source
    facts: dict[str, Any] = field(default_factory=dict)


def item_ref(item: Item) -> str:
    """An id of what is not stored: its post, and for a comment the comment as well."""
    ids = [item.post_id] if item.remote_id == item.post_id else [item.post_id, item.remote_id]
    return SERVICE + ":".join(quote(part, safe="") for part in ids)


def show_message(message: Message, *, most: int = MOST_OF_TEXT, **more: Any) -> ShownText:
    facts = _facts(
        id=str(message.pk), kind=message.kind, author=message.author, at=message.created_at,
        is_ours=message.is_ours, title=message.title, community=message.submolt,
        text=message.content, most=most, comments=message.comment_count, links_to=message.link,
    )  # fmt: skip
    if not message.is_post:
        facts |= {"post": str(message.post_id), "reply_to": str(message.parent_id or "") or None}
    return _shown("message", facts | more, is_ours=message.is_ours)


def show_item(item: Item, *, most: int = MOST_OF_TEXT) -> ShownText:
    facts = _facts(
        id=item_ref(item), kind=item.kind.value, author=item.author, at=item.created_at,
        is_ours=item.is_ours, title=item.title, community=item.community, text=item.content,
        most=most, comments=item.comment_count,
    )  # fmt: skip
    return _shown("item", facts, is_ours=item.is_ours)


def _facts(*, text: str | None, most: int, at: Any, is_ours: bool, **facts: Any) -> dict[str, Any]:
    text = text or ""
    cut = len(text) - most
    given = {
        **facts,
        "author": (facts["author"] or "")[:MOST_OF_NAME],
        "title": (facts["title"] or "")[:MOST_OF_TITLE],
        "at": at.isoformat(timespec="seconds"),
        "by_you": is_ours or None,
        "text": text[:most],
        "cut": f"{cut:,} more characters" if cut > 0 else None,
    }
    return {name: value for name, value in given.items() if value not in (None, "")}


def _shown(kind: str, facts: dict[str, Any], *, is_ours: bool) -> ShownText:
    facts = {name: value for name, value in facts.items() if value is not None}
    # Names were chosen by others as well.
    words = (facts.get(name) for name in ("author", "community", "title", "links_to", "text"))
    source = Source(
        kind=kind, id=facts["id"], author=facts.get("author", ""),
        trust=Trust.AGENT if is_ours else Trust.STRANGER,
        text="\n".join(word for word in words if word),
    )  # fmt: skip
    return ShownText(source=source, facts=facts)


def listed(
    found: Iterable[ShownText], *notes: str, nothing: str = "Nothing was found."
) -> ToolResult:
    """As many as fit, in their order, and what was left out."""
    lines: list[str] = []
    sources: list[Source] = []
    room, left_out = ROOM, 0
    for shown in found:
        line = json.dumps(shown.facts, ensure_ascii=False)
        room -= len(line) + 1
        if left_out or (lines and room < 0):
            left_out += 1
            continue
        lines.append(line)
        sources.append(shown.source)
    said = [note for note in notes if note]
    if left_out:
        said.append(f"{left_out} more are left out here; ask for fewer, or more exactly.")
    return ToolResult(text="\n".join([*(lines or [nothing]), *said]), sources=tuple(sources))
