"""Find one passage of a text that can be quoted exactly, as it was written.

A text is cut at everything that must not be repeated: links, mentions, addresses, long
numbers, anything like a key, markup, and what nobody sees. What is left between two cuts
is a passage. Only the beginning of a text is looked at, in time linear in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from surfaces.checks import SECRETS
from surfaces.tokens import domains

LOOKED_AT = 4_000  # characters
SHORTEST = 8  # of width; less says nothing

HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"(?m)^[ \t]*>.*$")  # somebody else's words, said again
_LINKS = r"(?i:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]*"
_NAMES = r"[^\s@＠\u3400-\u9fff]{0,64}[@＠][^\s\u3400-\u9fff]*|(?<!\w)/?[ur]/\w+|[#＃]\w+"
_LONG = r"[A-Za-z0-9_+/=-]{25,}|\+?\d[\d\s().-]{5,}\d"
_FORBIDDEN = re.compile("|".join([_LINKS, _NAMES, _LONG]))
# Line ends, markup, quotation marks, and every character that is not shown or turns others.
_CUTS = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff"
    "\U0001bca0-\U0001ffff\U000e0000-\U0010ffff"
    '\\[\\]{}<>|*_~^`\\\\"“”„«»「」『』【】《》]'
)
_SENTENCES = re.compile(r"(?<=[.!?…;؟])\s+|(?<=[。！？；])")
_CLAUSES = re.compile(r"(?<=[,:])\s+|(?<=[，、：])|\s+[–—-]+\s+|\s*——\s*")
_EDGES = " .,;:!…'’‘-–—/&%=+()、，。；：！·（）"
_ASKS = "?？؟"


@dataclass(frozen=True, slots=True)
class Passage:
    words: str  # exactly as they stand in the text
    asks: bool = False


def is_chinese(text: str) -> bool:
    """Whether one should answer in Chinese; a Chinese character says as much as a short word."""
    begin = text[:LOOKED_AT]
    han = len(HAN.findall(begin))
    return han > 0 and han * 3 >= len(_LATIN.findall(begin)) and not _KANA.search(begin)


def plain(text: str) -> str:
    """The author's own words, with a line end wherever something was taken out."""
    begin = text[:LOOKED_AT]
    for barred in (_CODE, _QUOTED, SECRETS, _FORBIDDEN, _CUTS):
        begin = barred.sub("\n", begin)
    return begin


def passages(text: str) -> list[Passage]:
    """The sentences that can be quoted, in their order."""
    found = []
    for line in plain(text).split("\n"):
        for sentence in _SENTENCES.split(line):
            words = sentence.lstrip(_EDGES + _ASKS).rstrip(_EDGES)
            if is_sayable(words):
                found.append(Passage(words, asks=words[-1] in _ASKS))
    return found


def is_sayable(words: str) -> bool:
    enough = bool(_LETTER.search(words)) and width(words) >= SHORTEST
    return enough and words.isprintable() and not domains(words)


def width(words: str) -> int:
    """How much it says: a Chinese character counts for three letters."""
    return len(words) + 2 * len(HAN.findall(words))


def cut(words: str, most: int) -> str:
    """The beginning of `words`, at most `most` characters, cut where a clause or word ends."""
    if len(words) <= most:
        return words
    end = max((at.start() for at in _CLAUSES.finditer(words) if at.start() <= most), default=0)
    if end < most // 2:
        end = _word_end(words, most)
    return words[:end].rstrip(_EDGES + _ASKS)


def _word_end(words: str, most: int) -> int:
    """Where to cut within `most`; a run without any gap is cut anywhere."""
    if HAN.match(words[most]) or HAN.match(words[most - 1]):
        return most
    gap = words.rfind(" ", 0, most + 1)
    return gap if gap > 0 else most
