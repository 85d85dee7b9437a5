"""What a settings change is: values that became others, and the way back.

A change is kept in the ledger as {name: [before, after]}. Nobody is overwritten unseen: a
form says what it showed, and a change is taken back only where nothing moved since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from typing import Any

from surfaces.errors import NotAllowed, StaleState

Values = Mapping[str, Any]
Turned = dict[str, list[Any]]  # {name: [before, after]}, as the ledger has it


@dataclass(frozen=True, slots=True)
class Change:
    """What one save did: nothing, or one line of the ledger."""

    turned: Turned
    line: int | None = None  # the ledger line, to take it back

    def __bool__(self) -> bool:
        return bool(self.turned)


class ChangedMeanwhile(StaleState):
    """Somebody else changed `fields` since the person looked."""

    def __init__(self, fields: Iterable[str], said: str = "") -> None:
        super().__init__(said or "Somebody changed this since you opened it. Look again.")
        self.fields = tuple(fields)


def differences(before: Values, given: Values) -> Turned:
    """Only what is given, and only where it is another value."""
    return {name: [before[name], value] for name, value in given.items() if before[name] != value}


# ── what a person saw ─────────────────────────────────────────────────────


def in_words(value: Any) -> str:
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


def mark_of(value: Any) -> str:
    """A short name of a value, to see later whether it is another one."""
    return hashlib.sha256(in_words(value).encode()).hexdigest()[:12]


def marks_of(values: Values) -> dict[str, str]:
    return {name: mark_of(value) for name, value in values.items()}


def told(marks: Mapping[str, str]) -> str:
    """Marks for a hidden field; `heard` reads them back."""
    return " ".join(f"{name}={mark}" for name, mark in marks.items())


def heard(words: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in words.split())
    return {name: mark for name, _, mark in pairs if mark}


def moved_since(before: Values, seen: Mapping[str, str] | None) -> list[str]:
    """Names whose values are others than those a person had before them."""
    marks = seen or {}
    return [name for name in before if name in marks and mark_of(before[name]) != marks[name]]


def check_seen(before: Values, seen: Mapping[str, str] | None) -> None:
    if moved := moved_since(before, seen):
        raise ChangedMeanwhile(moved)


# ── the way back ──────────────────────────────────────────────────────────


def is_change(facts: Mapping[str, Any], known: Iterable[str]) -> bool:
    """Whether a ledger line tells of values that became others, all of them `known`."""
    pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in facts.values())
    return bool(facts) and pairs and set(known).issuperset(facts)


def set_back(
    facts: Mapping[str, Any], is_now: Values, *, label: Callable[[str], str] = str
) -> dict[str, Any]:
    """What to set to take a change back, or `StaleState` naming what moved since."""
    if not is_change(facts, is_now):
        raise NotAllowed("This change cannot be taken back here. Set the values by hand.")
    if moved := [name for name, (_, after) in facts.items() if is_now[name] != after]:
        names = ", ".join(label(name) for name in moved)
        raise StaleState(f"Changed again since: {names}. Set it by hand.")
    return {name: before for name, (before, _) in facts.items()}
