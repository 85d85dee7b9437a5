"""Take a prompt apart again, by its marks alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialogue.voice.prompts import Prompt

FIRST = re.compile(r"The code of the marks in this message is ([0-9a-f]{12})\.")
CUT = re.compile(r"\[cut, [\d,]+ more characters\]")


@dataclass(frozen=True)
class Block:
    number: int
    label: str
    author: str
    title: str
    words: str
    cut: str = ""


def taken_apart(prompt: Prompt) -> tuple[list[str], list[Block]]:
    """The lines that are ours, and the blocks; or fail where something stands in between."""
    lines = iter(prompt.user.split("\n"))
    first = next(lines)
    match = FIRST.fullmatch(first)
    assert match, first
    begins = re.compile(rf"⟦{match[1]} begin text (\d+) · ([^⟦⟧]+)⟧")
    ours, blocks = [], []
    for line in lines:
        if begin := begins.fullmatch(line):
            end = f"⟦{match[1]} end text {begin[1]}⟧"
            inner = []
            while (line := next(lines)) != end:
                inner.append(line)
            blocks.append(_block(int(begin[1]), begin[2], inner))
        else:
            ours.append(line)
    assert match[1] not in "".join(ours)
    assert "⟦" not in "".join(ours)
    return ours, blocks


def _block(number: int, label: str, lines: list[str]) -> Block:
    author = lines.pop(0).removeprefix("author: ") if lines[0].startswith("author: ") else ""
    title = lines.pop(0).removeprefix("title: ") if lines[0].startswith("title: ") else ""
    cut = lines.pop() if CUT.fullmatch(lines[-1]) else ""
    assert all(line == "|" or line.startswith("| ") for line in lines), lines
    words = "\n".join(line[2:] for line in lines)
    assert "⟦" not in f"{author}{title}{words}"
    assert "⟧" not in f"{author}{title}{words}"
    return Block(number, label, author, title, words, cut)
