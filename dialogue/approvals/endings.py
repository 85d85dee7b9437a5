"""End a tool call: its state, the reason for people and the words for the model, in one place."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.utils import translation

from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.tools.base import Source
from surfaces.text.reasons import StoredReason, as_reason

LONGEST_SOURCE = 16_000  # characters kept of the text of one source
MOST_SOURCES = 600  # of a prompt, twice as many as one shows, or of a result
MOST_MARKED = 10  # sources that are marked at one argument
NOT_DONE = "Nothing was done."


def end_undone(
    call: ToolCall, state: ToolCallState, why: StoredReason | str, *, now: datetime, **facts: Any
) -> None:
    """End a call that did not run: denied, expired, stale or failed before it began."""
    because = as_reason(why)
    told = told_undone(because, facts.get("said", ""))
    call.advance(state, why=because, result=told, ended_at=now, **facts)


def told_undone(why: StoredReason, said: str = "") -> str:
    """What the model is told of a call that did not run."""
    with translation.override("en"):  # the conversation is English
        words = [NOT_DONE, str(why)]
    if said:
        words.append(f"The operator says: {said}")
    return " ".join(words)


def kept(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """Sources as JSON, each once."""
    found = {(one.kind, one.id, one.text): one for one in sources}
    return [
        {
            name: storable(value)[:LONGEST_SOURCE] if isinstance(value, str) else value
            for name, value in asdict(one).items()
        }
        for one in [*found.values()][:MOST_SOURCES]
    ]


def read_again(stored: Sequence[dict[str, Any]]) -> list[Source]:
    return [Source(**one) for one in stored]


def marked(found: dict[str, list[Source]]) -> dict[str, list[dict[str, Any]]]:
    """Of each argument, whose words are in it, without the words."""
    return {
        argument: [
            {name: value for name, value in one.items() if name != "text"}
            for one in kept(by[:MOST_MARKED])
        ]
        for argument, by in found.items()
    }


def storable(text: str) -> str:
    """As PostgreSQL takes it: without NUL and half characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
