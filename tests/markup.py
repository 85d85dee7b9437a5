"""Compare markup without the whitespace between a tag and its text, which no page shows."""

from __future__ import annotations

import re
from typing import Any

TAG = re.compile(r"<[^<>]*>")
CLASSES = re.compile(r'class="\s*([^"]*?)\s*"')
AT_TAGS = re.compile(r"\s+(?=<)|(?<=>)\s+")  # also at a tag that is cut off


def canonical(text: str) -> str:
    """Return `text` with runs of whitespace as one space, and none beside a tag or its classes."""
    within = TAG.sub(lambda tag: " ".join(tag[0].split()).replace(" >", ">"), text)
    trimmed = CLASSES.sub(r'class="\1"', AT_TAGS.sub("", within))
    return re.sub(r"\s+", " ", trimmed)


class Markup(str):
    """A page as text, in canonical form; what is looked for in it is brought to that form, too."""

    def __new__(cls, text: str) -> Markup:
        return super().__new__(cls, canonical(text))

    def __contains__(self, part: object) -> bool:
        return super().__contains__(canonical(str(part)))

    def __getitem__(self, key: Any) -> Markup:
        return Markup(super().__getitem__(key))

    def count(self, part: str, *span: Any) -> int:
        return super().count(canonical(part), *span)

    def index(self, part: str, *span: Any) -> int:
        return super().index(canonical(part), *span)

    def find(self, part: str, *span: Any) -> int:
        return super().find(canonical(part), *span)

    def split(self, part: Any = None, *most: Any) -> list[Any]:
        cut = super().split(canonical(part) if part else part, *most)
        return [Markup(piece) for piece in cut]

    def partition(self, part: str) -> tuple[Any, Any, Any]:
        before, found, after = super().partition(canonical(part))
        return Markup(before), found, Markup(after)

    def rpartition(self, part: str) -> tuple[Any, Any, Any]:
        before, found, after = super().rpartition(canonical(part))
        return Markup(before), found, Markup(after)


class MarkupBytes(bytes):
    def decode(self, *args: Any, **named: Any) -> Any:
        return Markup(super().decode(*args, **named))


def with_markup(response: Any) -> Any:
    """Let `response.content.decode()` give canonical markup, where it is a page."""
    kind = response.headers.get("Content-Type", "")
    if not response.streaming and kind.startswith("text/html"):
        base = type(response)
        content = property(lambda self: MarkupBytes(base.content.fget(self)), base.content.fset)
        response.__class__ = type(base.__name__, (base,), {"content": content})
    return response
