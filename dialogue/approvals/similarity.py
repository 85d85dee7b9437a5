"""Decide whether two calls of a tool are alike. Pure.

They name the same arguments, and texts of the same argument share at least half of their words.
Numbers, switches and ids may differ: an agent that reads one thread after the other asks for the
same.
"""

import re
from collections.abc import Mapping
from typing import Any

SHARED = 0.5
LONGEST = 4_000  # characters of each text that are compared
ID = re.compile(r"(?=.*\d)\S+")  # one word with a digit
WORD = re.compile(r"\w+")


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one.keys() != other.keys():
        return False
    return all(_is_like(value, other[name]) for name, value in one.items())


def _is_like(one: Any, other: Any) -> bool:
    if one == other or (type(one) is type(other) and isinstance(one, bool | int | float)):
        return True
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    if ID.fullmatch(one) and ID.fullmatch(other):
        return True
    words, others = ({*WORD.findall(text[:LONGEST].lower())} for text in (one, other))
    return len(words & others) >= SHARED * len(words | others)
