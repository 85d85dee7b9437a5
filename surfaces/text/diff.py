"""Tell what an edit changed, word by word; Chinese and Japanese, sign by sign. Pure.

Long texts that share little are compared in coarser pieces, so that it stays fast.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Literal

Kind = Literal["same", "gone", "new"]

MOST_WORK = 4_000_000  # pairs of pieces that may meet; beyond this they get coarser first
AROUND = 60  # characters of what stayed, shown on each side of a change

# Signs that are words by themselves.
SIGNS = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
MARKS = '!"#$%&()*+,./:;<=>?@\\[\\\\\\]^`{|}~¡-¿‐-‧‰-⁞'
# Each piece carries the space behind it, so that words stay apart without pieces of their own.
WORDS = re.compile(rf"(?:[{SIGNS}]|[^\s{SIGNS}{MARKS}]+|[{MARKS}])\s*|\s+")
SENTENCES = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？\n]+\s*|\Z)")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    kind: Kind
    text: str


def changes(before: str, after: str) -> list[DiffPiece]:
    """What stayed, what is gone and what is new, in reading order; [] if nothing changed."""
    if before == after:
        return []
    old, new = WORDS.findall(before), WORDS.findall(after)
    start = _same(old, new)
    end = _same(old[start:][::-1], new[start:][::-1])
    head, gone, tail = old[:start], old[start : len(old) - end], old[len(old) - end :]
    came = new[start : len(new) - end]
    changed = _compare("".join(gone), "".join(came))
    pieces = [DiffPiece("same", "".join(head)), *changed, DiffPiece("same", "".join(tail))]
    grouped = groupby((piece for piece in pieces if piece.text), key=lambda piece: piece.kind)
    return [DiffPiece(kind, "".join(piece.text for piece in run)) for kind, run in grouped]


def shortened(pieces: Sequence[DiffPiece], around: int = AROUND) -> list[DiffPiece]:
    last = len(pieces) - 1
    return [
        DiffPiece("same", _middle_cut(piece.text, around, at == 0, at == last))
        if piece.kind == "same"
        else piece
        for at, piece in enumerate(pieces)
    ]


def _middle_cut(text: str, around: int, is_first: bool, is_last: bool) -> str:
    if len(text) <= 3 * around:
        return text
    head = "" if is_first else text[:around]
    tail = "" if is_last else text[-around:]
    cut = f"{head.rpartition(' ')[0] or head} … {tail.partition(' ')[2] or tail}"
    # The blanks beside a change belong to its neighbours.
    cut = cut.lstrip(" ") if is_first else cut
    return cut.rstrip(" ") if is_last else cut


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _compare(before: str, after: str, *, may_split: bool = True) -> Iterator[DiffPiece]:
    """By words where that is quick, else by sentences, and by words inside those that changed."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) * len(new) <= MOST_WORK:
        yield from _steps(old, new)
    elif not may_split:
        yield from (DiffPiece("gone", before), DiffPiece("new", after))
    else:
        run = ["", ""]
        pieces = _steps(SENTENCES.findall(before), SENTENCES.findall(after))
        for piece in [*pieces, DiffPiece("same", "")]:
            if piece.kind != "same":
                run[piece.kind == "new"] += piece.text
                continue
            yield from _compare(*run, may_split=False)
            yield piece
            run = ["", ""]


def _steps(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffPiece]:
    """Words are the same whatever space stands behind them."""
    steps = SequenceMatcher(None, list(map(str.rstrip, old)), list(map(str.rstrip, new)))
    for tag, i, j, k, m in steps.get_opcodes():
        if tag == "equal":
            for mine, yours in zip(old[i:j], new[k:m], strict=True):
                word = len(mine.rstrip())
                yield DiffPiece("same", mine[:word])
                yield from _swap(mine[word:], yours[word:])
        else:
            yield from _swap("".join(old[i:j]), "".join(new[k:m]))


def _swap(gone: str, new: str) -> Iterator[DiffPiece]:
    """One for the other; the space that stands behind both stays."""
    space = gone[len(gone.rstrip()) :]
    if new[len(new.rstrip()) :] != space:
        space = ""
    yield DiffPiece("gone", gone[: len(gone) - len(space)])
    yield DiffPiece("new", new[: len(new) - len(space)])
    yield DiffPiece("same", space)
