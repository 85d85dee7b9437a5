"""Settings as plain values: what changed, what a person saw, where two people collide.

An audit event keeps a change as {name: [before, after]}. A form carries a mark of each value it
showed, so a save can tell what the person changed from what somebody else changed meanwhile.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import time
from decimal import Decimal
from typing import Any

Values = Mapping[str, Any]
Pairs = dict[str, list[Any]]  # {name: [before, after]}


def to_text(value: Any) -> str:
    """A value as a short text, the same for the same value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False) if value else ""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, time):
        return value.isoformat()
    return "" if value is None else str(value)


def to_json(value: Any) -> Any:
    """A value as an audit event keeps it. A column's `clean` reads it back."""
    return to_text(value) if isinstance(value, Decimal | time) else value


def mark_of(value: Any) -> str:
    """A short digest of a value, to see later whether it is another one."""
    return hashlib.sha256(to_text(value).encode()).hexdigest()[:12]


def marks_of(values: Values) -> dict[str, str]:
    return {name: mark_of(value) for name, value in values.items()}


def dump_marks(marks: Mapping[str, str]) -> str:
    """Marks for a hidden field; `load_marks` reads them back."""
    return " ".join(f"{name}={mark}" for name, mark in marks.items())


def load_marks(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split())
    return {name: mark for name, _, mark in pairs if mark}


def merge(
    current: Values, given: Values, seen: Mapping[str, str] | None
) -> tuple[dict[str, Any], list[str]]:
    """What the person changed, and which of it somebody else changed meanwhile to another value.

    A value that was left as it was shown is not written, whatever it has become since. Without
    `seen`, everything given was changed and nothing conflicts.
    """
    marks = seen or {}
    changed = {name: value for name, value in given.items() if mark_of(value) != marks.get(name)}
    conflicts = [
        name
        for name, value in changed.items()
        if name in marks and mark_of(current.get(name)) not in {marks[name], mark_of(value)}
    ]
    return changed, conflicts


def pairs_of(facts: Mapping[str, Any]) -> Pairs:
    """The changed values among the facts of an event."""
    found = {name: pair for name, pair in facts.items() if isinstance(pair, list)}
    return {name: pair for name, pair in found.items() if len(pair) == 2}


def changed_since(pairs: Pairs, current: Values) -> list[str]:
    """Names whose values are not what this change made of them."""
    return [name for name, (_, after) in pairs.items() if to_json(current.get(name)) != after]
