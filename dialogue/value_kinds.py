"""Kinds of values in a file: what each must be, said to whoever wrote something else.

A number is echoed, text never: somebody may have typed a key where its name belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Protocol

import yaml

from dialogue.plain_yaml import WRONG, Reading, in_line

NOTHING = object()  # what `take` returns for an empty value that counts as not given
WHOLE = re.compile(r"[-+]?(0|[1-9]\d{0,17})")
# A float that we write ourselves has up to 20 places: 17 digits behind three zeros.
REAL = re.compile(r"[-+]?(\d{1,18}\.?\d{0,20}|\.\d{1,20})([eE][-+]?\d{1,3})?")
CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?")
UNKEPT = re.compile("[\0\ud800-\udfff]")  # no database keeps these
LONGEST_KEY = 100  # characters
MOST_HINTS = 20  # looking for what was meant takes time


class Kind(Protocol):
    """What a value must be."""

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        """Return the value, `NOTHING`, or `WRONG` after noting why."""


# ── kinds of single values ────────────────────────────────────────────────


def _said(node: yaml.Node) -> str:
    """What stands there: a number as it is, anything else only by its kind."""
    if isinstance(node, yaml.MappingNode):
        return "a section"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    kind = node.tag.rpartition(":")[2]
    if kind in {"int", "float", "bool"}:
        return in_line(node.value[:24])
    return {"str": "text", "null": "empty", "timestamp": "a date"}.get(kind, "something else")


def _raw(node: yaml.Node, *kinds: str) -> str | None:
    """The words of a single value of one of these kinds."""
    is_one = isinstance(node, yaml.ScalarNode) and node.tag.rpartition(":")[2] in kinds
    return str(node.value) if is_one else None


@dataclass(frozen=True, slots=True)
class Text:
    longest: int = 2_000
    shape: re.Pattern[str] | None = None
    must: str = ""  # said of the shape
    may_be_empty: bool = False

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        words = _raw(node, "str")
        if words is None:
            hint = " (put it in quotes)" if isinstance(node, yaml.ScalarNode) else ""
            return reading.wrong(node, key, f"must be text, not {_said(node)}{hint}")
        if UNKEPT.search(words):
            return reading.wrong(node, key, "holds a NUL or half a character")
        if len(words) > self.longest:
            most = f"must have at most {self.longest:,} characters, not {len(words):,}"
            return reading.wrong(node, key, most)
        if not words.strip() and not self.may_be_empty:
            return reading.wrong(node, key, "is empty; enter something or leave it out")
        if self.shape and not self.shape.fullmatch(words):
            return reading.wrong(node, key, f"must be {self.must}")
        return words


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number, or a decimal one, within bounds."""

    low: float
    high: float
    is_whole: bool = True
    is_exact: bool = False  # money

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        words = (_raw(node, "int", "float") or "").replace("_", "")
        if (WHOLE if self.is_whole else REAL).fullmatch(words):
            exact = Decimal(words)
            if Decimal(str(self.low)) <= exact <= Decimal(str(self.high)):
                return int(exact) if self.is_whole else exact if self.is_exact else float(exact)
        return reading.wrong(node, key, f"must be {self.words}, not {_said(node)}")

    @property
    def words(self) -> str:
        kind = "a whole number" if self.is_whole else "a number"
        return f"{kind} from {_end(self.low)} to {_end(self.high)}"


def _end(bound: float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:,}"


@dataclass(frozen=True, slots=True)
class YesNo:
    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        words = _raw(node, "bool")
        if words is None:
            return reading.wrong(node, key, f"must be true or false, not {_said(node)}")
        return words.lower() in {"true", "yes", "on"}


@dataclass(frozen=True, slots=True)
class OneOf:
    words: tuple[str, ...]

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        # `off` is one of the modes, and YAML's word for false.
        words = _raw(node, "str", "bool")
        if words is None or words not in self.words:
            return reading.wrong(node, key, f"must be one of {', '.join(self.words)}")
        return words


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. YAML reads 22:00 as a number of base 60; we read what was typed."""

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        words = _raw(node, "str", "int", "float") or ""
        if not CLOCK.fullmatch(words):
            return reading.wrong(node, key, f"must be a time of day like 08:00, not {_said(node)}")
        return time.fromisoformat(words.zfill(len(words) + (words[1] == ":")))


# ── made of others ────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Maybe:
    """What may also be left empty: then it counts as not given."""

    kind: Kind
    nothing: Any = NOTHING

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        return (
            self.nothing if _raw(node, "null") is not None else self.kind.take(node, key, reading)
        )


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    kind: Kind
    most: int = 100

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        if not isinstance(node, yaml.SequenceNode):
            return reading.wrong(node, key, f"must be a list, not {_said(node)}")
        if len(node.value) > self.most:
            many = f"must have at most {self.most} items, not {len(node.value)}"
            return reading.wrong(node, key, many)
        items = [
            self.kind.take(item, f"{key}[{number}]", reading)
            for number, item in enumerate(node.value)
        ]
        return WRONG if WRONG in items else items


@dataclass(frozen=True, slots=True)
class Either:
    """Text, or a section."""

    text: Text
    section: Section

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        kind: Kind = self.section if isinstance(node, yaml.MappingNode) else self.text
        return kind.take(node, key, reading)


@dataclass(frozen=True, slots=True)
class Section:
    """Known keys, each of its kind; with `rest`, any other key of that kind."""

    keys: Mapping[str, Kind]
    rest: Kind | None = None
    needs: tuple[str, ...] = ()

    def take(self, node: yaml.Node, key: str, reading: Reading) -> Any:
        if not isinstance(node, yaml.MappingNode):
            return reading.wrong(node, key or "the file", f"must be a section, not {_said(node)}")
        found: dict[str, Any] = {}
        for name, value in self._pairs(node, key, reading):
            path = f"{key}.{name}" if key else name
            reading.lines[path] = value.start_mark.line + 1
            kind = self.keys.get(name) or self.rest
            found[name] = (
                kind.take(value, path, reading) if kind else self._unknown(name, path, reading)
            )
        for name in self.needs:
            if name not in found:
                reading.wrong(node, key, f"lacks {name}")
        return {name: value for name, value in found.items() if value is not NOTHING}

    def _pairs(
        self, node: yaml.MappingNode, key: str, reading: Reading
    ) -> Iterator[tuple[str, yaml.Node]]:
        seen: set[str] = set()
        for name_node, value in node.value:
            name = str(name_node.value) if isinstance(name_node, yaml.ScalarNode) else None
            if name is None or not name or len(name) > LONGEST_KEY or UNKEPT.search(name):
                reading.wrong(name_node, key, "has a key that is no word")
            elif name in seen:
                path = f"{key}.{name}" if key else name
                reading.wrong(name_node, path, "stands here a second time")
            else:
                seen.add(name)
                yield name, value

    def _unknown(self, name: str, path: str, reading: Reading) -> object:
        is_flood = len(reading.problems) > MOST_HINTS
        near = [] if is_flood else get_close_matches(name, self.keys, n=1)
        hint = f"; do you mean {near[0]}?" if near else ""
        return reading.wrong(reading.lines[path], path, f"is no key known here{hint}")
