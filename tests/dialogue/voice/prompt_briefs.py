"""What a prompt is built from: a post of ours and a comment under it."""

from __future__ import annotations

from dialogue.voice.base import Brief, ThreadMessage

ROOT = ThreadMessage(
    author="iris", title="On tides", text="What is left out?", is_ours=True, number=1
)
COMMENT = ThreadMessage(
    author="ada", text="The wind is.", number=9, written_at="2026-11-21T12:00:00+00:00"
)


def brief(**given) -> Brief:
    ordinary = {"purpose": "reply", "name": "Iris", "handle": "iris_tides", "place": "Moltbook"}
    return Brief(**(ordinary | {"thread": (ROOT,), "comment": COMMENT} | given))


def said(number: int, text: str = "", author: str = "bob", **given) -> ThreadMessage:
    text = text or f"words of {number}"
    return ThreadMessage(author=author, text=text, number=number, **given)
