"""Say stored sentences in another language, where they are shown.

Reasons and refusals are written, kept and compared in plain English. A catalog holds them
with their gaps: "Wait {span}, then try again." A text is looked up whole, then against the
sentences with gaps, then part by part. What nobody translated is shown as it is.

A sentence with gaps fits when its words stand in the text in their order: first fits are
enough, so no text is gone through twice, however long it is or whoever wrote it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MOST = 2_000  # characters; no sentence of ours is longer
LEAST = 5  # letters of a sentence outside its gaps, or it would fit whatever comes
DEEP = 4  # a sentence in a gap of a sentence of a part
GAP = re.compile(r"\{(\w+)\}")
# What may stand in a gap as one word of ours. Other gaps hold names, which stay as they are.
WORDY = frozenset({"state", "kind", "what", "mode", "status", "spam_status", "scope", "role",
                   "act", "verb", "noun", "purpose", "unit", "judged", "lead", "word"})  # fmt: skip
LENGTH = re.compile(r"\d[\d,.]* (?:days?|h|min|s)(?: \d+ (?:h|min|s))?")
UNIT = re.compile(r"(?<=\d )(?:days?|h|min|s)\b")
# Where a text falls apart into sentences of its own, and how the parts are joined again.
JOINTS = ((re.compile(r"(?<=[.!?…。]) (?=[A-Z“\d一-鿿])"), ""), (re.compile(r"; "), "；"),
          (re.compile(r": "), "："))  # fmt: skip
MOST_PARTS = 24
PART = re.compile(r"; |(?<=[.!?…。]) (?=[A-Z“])")
STOP = "。"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sentence with gaps."""

    pieces: tuple[str, ...]  # the words between the gaps, first and last may be empty
    gaps: tuple[str, ...]
    said: str

    @property
    def weight(self) -> int:
        """How much of it is words: the more, the surer."""
        return sum(map(len, self.pieces))

    def fits(self, text: str) -> list[str] | None:
        """Return what stands in the gaps, none of them empty."""
        first, last = self.pieces[0], self.pieces[-1]
        end = len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last):
            return None
        found, at = [], len(first)
        for piece in self.pieces[1:-1]:
            there = text.find(piece, at + 1, end)
            if there < 0:
                return None
            found.append(text[at:there])
            at = there + len(piece)
        return [*found, text[at:end]] if at < end else None


class Catalog:
    """Everything one language knows."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._whole = {said: words for said, words in sentences.items() if not GAP.search(said)}
        self._begun: dict[str, list[Pattern]] = {}
        patterns = (_pattern(said, words) for said, words in sentences.items() if GAP.search(said))
        for pattern in sorted(patterns, key=lambda one: -one.weight):
            if len(re.sub(r"\W", "", "".join(pattern.pieces))) >= LEAST:
                self._begun.setdefault(_first_word(pattern.pieces[0]), []).append(pattern)
        self.tell = lru_cache(maxsize=4096)(self._tell)

    def _tell(self, text: str) -> str:
        told = self._said(text.strip(), DEEP) if len(text) <= MOST else None
        return text if told is None else told

    def _said(self, text: str, deep: int) -> str | None:
        """Whole; in a pattern; in parts that are all known; in whatever is known of it."""
        if not text or deep < 0:
            return None
        told = self._known(text) or self._fitting(text, deep, within_parts=True)
        if told is not None:
            return told
        parts, is_all = self._in_parts(text, deep)
        if is_all:
            return parts
        return self._fitting(text, deep) or parts or (self._listed(text) if deep < DEEP else None)

    def _known(self, text: str) -> str | None:
        """Whole; or with another first letter, or without its full stop."""
        for words in (text, text[0].lower() + text[1:], text[0].upper() + text[1:]):
            if told := self._whole.get(words):
                return told
        if text.endswith(".") and (told := self._known(text[:-1]) if len(text) > 1 else None):
            return told.rstrip(STOP) + STOP
        if LENGTH.fullmatch(text):
            return UNIT.sub(lambda unit: self._whole.get(unit[0], unit[0]), text)
        return None

    def _fitting(self, text: str, deep: int, *, within_parts: bool = False) -> str | None:
        for words in (text, text[0].lower() + text[1:], text[0].upper() + text[1:]):
            for pattern in [*self._begun.get(_first_word(words), ()), *self._begun.get("", ())]:
                found = pattern.fits(words)
                if found and not (within_parts and any(PART.search(value) for value in found)):
                    return self._filled(pattern, found, deep)
        return None

    def _filled(self, pattern: Pattern, found: list[str], deep: int) -> str:
        values = dict(zip(pattern.gaps, found, strict=True))
        for name, value in values.items():
            if " " in value or name in WORDY:
                values[name] = self._said(value, deep - 1) or value
        return GAP.sub(lambda gap: values.get(gap[1], gap[0]), pattern.said)

    def _listed(self, text: str) -> str | None:
        """A list of what we know, all of it."""
        told = [self._known(part) for part in text.split(", ")[:MOST_PARTS] if part]
        return "、".join(filter(None, told)) if len(told) > 1 and all(told) else None

    def _in_parts(self, text: str, deep: int) -> tuple[str | None, bool]:
        """What is known of its parts, and whether that is all of them."""
        for joint, between in JOINTS:
            parts = joint.split(text)
            if 1 < len(parts) <= MOST_PARTS:
                told = [self._said(part, deep - 1) for part in parts]
                if any(told):
                    pairs = zip(told, parts, strict=True)
                    return between.join(new or old for new, old in pairs), all(told)
        return None, False


def _pattern(said: str, words: str) -> Pattern:
    pieces = GAP.split(said)
    return Pattern(tuple(pieces[::2]), tuple(pieces[1::2]), words)


def _first_word(words: str) -> str:
    """The first whole word, by which sentences are found; "" where a gap comes first."""
    begin = re.match(r"\S+(?= )", words)
    return begin[0] if begin else ""


@lru_cache
def catalog(folder: Path, locale: str) -> Catalog | None:
    """The catalog of one language, read once; None where there is none, as for English."""
    path = folder / locale / "LC_MESSAGES" / "django.mo"
    return Catalog(dict(read(path))) if path.is_file() else None


def read(path: Path) -> Iterator[tuple[str, str]]:
    """Every sentence of a compiled catalog that has a translation, one form of each."""
    raw = path.read_bytes()
    count, ours, theirs = struct.unpack_from("<3I", raw, 8)
    for row in range(count):
        said, words = (_entry(raw, table + 8 * row) for table in (ours, theirs))
        plain = said.rpartition("\x04")[2]  # without what it was said of
        for form in plain.split("\x00") if plain else ():
            yield form, words.rpartition("\x00")[2]


def _entry(raw: bytes, at: int) -> str:
    length, begin = struct.unpack_from("<2I", raw, at)
    return raw[begin : begin + length].decode()
