r"""Match the arguments of a tool call with the patterns of a rule. Pure.

    {"community": "tides", "content": "*"}

`*` stands for any text, also none, and `\*` for an asterisk; everything else for itself. An
argument that no pattern names must be absent, and one that is absent counts as an empty text.
Values that are no text are compared as canonical JSON. It takes time in proportion to the text:
nothing is tried again.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_ANY = re.compile(r"\\\*|\*")  # an asterisk, or any text


def matches(patterns: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    if arguments.keys() - patterns.keys():
        return False
    return all(
        is_like(str(pattern), as_text(arguments[name]) if name in arguments else "")
        for name, pattern in patterns.items()
    )


def is_like(pattern: str, text: str) -> bool:
    head, *middle = _parts(pattern)
    if not middle:
        return text == head
    tail = middle.pop()
    if len(text) < len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
        return False
    at, end = len(head), len(text) - len(tail)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def literal(text: str) -> str:
    """The pattern that only this text is like."""
    return text.replace("*", r"\*")


def _parts(pattern: str) -> list[str]:
    """The texts between those that may be anything."""
    parts, at = [""], 0
    for found in _ANY.finditer(pattern):
        parts[-1] += pattern[at : found.start()]
        at = found.end()
        if found[0] == "*":
            parts.append("")
        else:
            parts[-1] += "*"
    parts[-1] += pattern[at:]
    return parts


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def canonical(value: Any) -> str:
    """As JSON, one text for equal values. Raises `ValueError` for what JSON cannot say."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
