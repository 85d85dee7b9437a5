"""Find passages of a text that can be quoted exactly.

A text is cut at everything that must not be repeated: links, mentions, addresses, long
numbers, keys, markup and invisible characters. The parts between are passages. Only the
beginning of a text is searched, in linear time.
"""

import re
from dataclasses import dataclass

from surfaces.drafts.text_checks import SECRETS
from surfaces.spam.tokenizer import domains

LOOKED_AT = 4_000  # characters
SHORTEST = 8  # minimum display width

HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(r"(?m)^[ \t]*>.*$")  # a quote of somebody else
_LINKS = r"(?i:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]*"
_NAMES = r"[^\s@＠\u3400-\u9fff]{0,64}[@＠][^\s\u3400-\u9fff]*|(?<!\w)/?[ur]/\w+|[#＃]\w+"
_LONG = r"[A-Za-z0-9_+/=-]{25,}|\+?\d[\d\s().-]{5,}\d"
_FORBIDDEN = re.compile("|".join([_LINKS, _NAMES, _LONG]))
# Line ends, markup, quotation marks, invisible characters.
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
    words: str  # exactly as in the text
    asks: bool = False


def is_chinese(text: str) -> bool:
    """Whether to reply in Chinese; a Chinese character counts as a short word."""
    begin = text[:LOOKED_AT]
    han = len(HAN.findall(begin))
    return han > 0 and han * 3 >= len(_LATIN.findall(begin)) and not _KANA.search(begin)


def plain(text: str) -> str:
    """The author's own text, with a line end for each removed part."""
    begin = text[:LOOKED_AT]
    for barred in (_CODE, _QUOTED, SECRETS, _FORBIDDEN, _CUTS):
        begin = barred.sub("\n", begin)
    return begin


def passages(text: str) -> list[Passage]:
    """The quotable sentences, in order."""
    found = []
    for line in plain(text).split("\n"):
        for sentence in _SENTENCES.split(line):
            words = sentence.lstrip(_EDGES + _ASKS).rstrip(_EDGES)
            enough = bool(_LETTER.search(words)) and display_width(words) >= SHORTEST
            if enough and words.isprintable() and not domains(words):
                found.append(Passage(words, asks=words[-1] in _ASKS))
    return found


def display_width(words: str) -> int:
    """Display width; a Chinese character counts as three letters."""
    return len(words) + 2 * len(HAN.findall(words))


def shorten(words: str, most: int) -> str:
    """Cut to at most `most` characters, at the end of a clause or word."""
    if len(words) <= most:
        return words
    end = max((at.start() for at in _CLAUSES.finditer(words) if at.start() <= most), default=0)
    if end < most // 2:  # at a word; text without spaces is cut anywhere
        gap = words.rfind(" ", 0, most + 1)
        has_words = gap > 0 and not (HAN.match(words[most]) or HAN.match(words[most - 1]))
        end = gap if has_words else most
    return words[:end].rstrip(_EDGES + _ASKS)
