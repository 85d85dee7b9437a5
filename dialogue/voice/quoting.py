"""Quote other people's text in a prompt, so that it cannot act as instructions.

A quoted text stands between two lines with a mark that no text contains, and each of its own
lines begins with a bar. Invisible characters and control tokens of model servers are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from dialogue.voice.base import ThreadMessage

MOST_OF_TEXT = 2_000  # characters of one text
MOST_OF_TITLE = 300
MOST_OF_NAME = 80
MOST_OF_LINK = 300
BAR = "| "

# Looks like one of our marker lines; in a reply, it was copied from the prompt.
MARKED = re.compile(r"⟦\s*/?\s*[0-9a-f]{12}|\b[0-9a-f]{12} (?:begin|end) text \d")

_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Arabic and Indic spelling needs joiners between letters; other text does not.
_JOINERS = re.compile(
    "(?<![\u0620-\u0dff])[\u200c\u200d]+|[\u200c\u200d]+(?![\u0620-\u0dff])|[\u200c\u200d]{2,}"
)
_BRACKETS = str.maketrans({"⟦": "[[", "⟧": "]]", "〚": "[[", "〛": "]]"})
# A space after the first character breaks the token and stays readable.
_CONTROL_TOKENS = re.compile(
    r"(?i)<(?=[|｜])|[|｜](?=>)"
    r"|<(?=/?\s*(?:s|bos|eos|pad|unk|think|tool_calls?|tool_response|start_of_turn|end_of_turn)>)"
    r"|<(?=<\s*/?\s*sys\s*>>)"
    r"|\[(?=/?(?:inst|tool_calls|tool_results|available_tools|system_prompt)\])"
)


def seen(text: str) -> str:
    """Remove invisible characters: controls, direction marks, tags, joiners."""
    text = _HIDDEN.sub("", _BREAKS.sub("\n", text))
    return _JOINERS.sub("", text) if "\u200c" in text or "\u200d" in text else text


def cleaned(text: str) -> str:
    """Remove invisible characters, marks and control tokens."""
    text = _CONTROL_TOKENS.sub(r"\g<0> ", seen(text).translate(_BRACKETS))
    # At most one empty line between two others.
    runs = groupby((line.rstrip() for line in text.split("\n")), key=bool)
    lines = (line for said, lines in runs for line in (lines if said else [""]))
    return "\n".join(lines).strip("\n")


def one_line(text: str, most: int) -> str:
    line = " ".join(cleaned(text[: most * 8]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Quote:
    label: str  # ours: author and message
    author: str
    title: str
    link: str
    words: str
    missing: int  # characters cut from the end

    @classmethod
    def of(cls, said: ThreadMessage, most: int = MOST_OF_TEXT) -> Quote:
        words = cleaned(said.text)
        provenance = (
            "written by you" if said.is_ours else "written by somebody else",
            f"message {said.number}" if said.number else "",
            one_line(said.written_at, 40),
        )
        return cls(
            label=" · ".join(filter(None, provenance)),
            author=one_line(said.author, MOST_OF_NAME),
            title=one_line(said.title, MOST_OF_TITLE),
            link=one_line(said.link, MOST_OF_LINK),
            words=words[:most],
            missing=max(len(words) - most, 0),
        )

    @property
    def size(self) -> int:
        return len(self.author) + len(self.title) + len(self.link) + len(self.words)

    def lines(self, number: int, mark: str) -> list[str]:
        return [
            f"⟦{mark} begin text {number} · {self.label}⟧",
            *([f"author: {self.author}"] if self.author else []),
            *([f"title: {self.title}"] if self.title else []),
            *([f"links to: {self.link}"] if self.link else []),
            *((BAR + line).rstrip() for line in self.words.split("\n")),
            *([f"[cut, {self.missing:,} more characters]"] if self.missing else []),
            f"⟦{mark} end text {number}⟧",
        ]


def mark_for(texts: Iterable[str]) -> str:
    """A mark that none of `texts` contains. Deterministic."""
    whole = "\x00".join(texts)
    mark = whole
    while mark in whole:
        mark = sha256((mark + whole).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return mark
