"""Find what a voice pointed at, in what it answers and in what it says. Pure.

A pointer quotes; the quoted passage is marked where it stands. Nothing is taken out of a
text and nothing but `mark` is put in, so what was safe to show stays so.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from surfaces.text.markdown import render_untrusted

QUOTED = re.compile(
    '“([^“”]+)”|"([^"]+)"|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》'
)
LEFT_OUT = re.compile(r"…|\.{3}|\[\.\.\.\]")
SHORTEST = 2  # signs; less is found everywhere
MOST = 5  # passages
LONGEST = 1_000  # characters of one
# A tag, an entity, a run of words: what sanitised HTML is made of.
HTML = re.compile(r"<[^>]*>|&[^;\s]{1,12};|[^<&]+|[<&]")

MARKUP = re.compile(r"[*_`~]+")

Span = tuple[int, int]


def quotes(pointer: str) -> list[str]:
    """The passages a pointer quotes, in order; what it left out splits one in two."""
    found = ["".join(part or "" for part in match.groups()) for match in QUOTED.finditer(pointer)]
    parts = [part.strip(" ,.;:，。；：") for words in found for part in LEFT_OUT.split(words)]
    return [part for part in parts if SHORTEST <= len(part) <= LONGEST][:MOST]


def spans(text: str, passages: Iterable[str]) -> list[Span]:
    """Where the passages stand in `text`, merged and in order; case and spaces aside."""
    found: list[Span] = []
    for passage in passages:
        pattern = r"\s+".join(re.escape(word) for word in passage.split())
        if match := re.search(pattern, text, re.IGNORECASE):
            found.append(match.span())
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def standing(passages: Iterable[str], text: str) -> list[str]:
    """Those passages that stand in `text`, its markup aside."""
    plain = MARKUP.sub("", text)
    return [passage for passage in passages if spans(plain, [passage])]


def cut(text: str, marks: Sequence[Span]) -> Iterator[tuple[bool, str]]:
    at = 0
    for start, end in marks:
        yield False, text[at:start]
        yield True, text[start:end]
        at = end
    yield False, text[at:]


def said_with_marks(text: str, passages: Iterable[str]) -> str:
    """A stranger's words as safe HTML, the passages marked, across tags if need be."""
    pieces = HTML.findall(render_untrusted(text))
    words = ["" if piece.startswith("<") else html.unescape(piece) for piece in pieces]
    marks = spans("".join(words), passages)
    return "".join(_marked(pieces, words, marks)) if marks else "".join(pieces)


def _marked(pieces: Sequence[str], words: Sequence[str], marks: Sequence[Span]) -> Iterator[str]:
    at = 0
    for piece, here in zip(pieces, words, strict=True):
        end = at + len(here)
        hit = [(max(a, at) - at, min(b, end) - at) for a, b in marks if a < end and b > at]
        if piece.startswith("<") or not hit:
            yield piece
        elif piece != here:  # an entity is not cut
            yield f"<mark>{piece}</mark>"
        else:
            yield from (f"<mark>{run}</mark>" if is_in else run for is_in, run in cut(piece, hit))
        at = end


def laid_out(text: str, parts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """`text` in its named parts; what belongs to none, or was changed since, has no name."""
    rows: list[tuple[str, str]] = []
    at = 0
    for name, part in parts:
        words = part.replace("\r\n", "\n").strip()
        start = text.find(words, at) if words else -1
        if start < 0:
            continue
        rows += [("", text[at:start].strip()), (name, words)]
        at = start + len(words)
    rows.append(("", text[at:].strip()))
    return [(name, words) for name, words in rows if words]
