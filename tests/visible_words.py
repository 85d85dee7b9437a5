"""Find words in a template that everybody sees and nobody marked for translation."""

from __future__ import annotations

import re
from collections.abc import Iterator

TAG_OF_DJANGO = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
TAG_OF_HTML = re.compile(
    r"""<!--.*?-->|<!doctype[^>]*>|<(/?)([a-zA-Z][\w-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>""",
    re.DOTALL | re.IGNORECASE,
)
SEEN = re.compile(
    r"""(?<![\w-])(?:aria-label|aria-description|placeholder|title|alt|data-l|data-say\S*)=("[^"]*"|'[^']*')"""
)
GIVEN = re.compile(  # words handed to an included template, or to a filter or tag of ours
    r"""\b(?:label|title|text|act|verb|what|note|lead|now|after|heading|unit|bounds)=("[^"]*"|'[^']*')"""
    r"""|\|default(?:_if_none)?:("[^"]*"|'[^']*')"""
)
MARKED = {"blocktranslate", "comment", "verbatim"}
SILENT = {"script", "style", "code", "kbd", "pre"}
# Names, and what is the same in every language.
SAME = re.compile(
    r"Colloquy|OpenClaw|Moltbook|Webhook|airdrop|Aetheris|Gabriel|Aa|AA|UTC|TOTP|JSON|API|URL|HTTPS?|CSV|CPU|MB|GB|ms|html|utf"
    r"|example\.org|[\w.]+@[\w.]+|https?:\S*|&\w+;|token|id"
)
WORD = re.compile(r"[A-Za-z]{2,}")
FIRST = 0xE000  # private letters stand for Django's tags while HTML is read


def unmarked(source: str) -> Iterator[str]:
    """Each piece of visible English outside the tags that translate."""
    tags: list[str] = []

    def put_away(found: re.Match[str]) -> str:
        tags.append(found[0])
        return chr(FIRST + len(tags) - 1)

    page = TAG_OF_DJANGO.sub(put_away, source)
    for piece in _pieces(_outside(page, tags)):
        if words := _words(piece):
            yield words
    for tag in tags:
        if not re.match(r"\{#|\{%\s*(?:blocktranslate|translate|url|icon|face|if|elif)\b", tag):
            for found in GIVEN.finditer(tag):
                if words := _words(found[1] or found[2]):
                    yield words


def _outside(page: str, tags: list[str]) -> str:
    """The page without what stands between tags that translate."""
    kept, inside = [], ""
    for letter in page:
        if FIRST <= ord(letter) < FIRST + len(tags):
            tag = re.match(r"\{%\s*(\w+)", tags[ord(letter) - FIRST])
            name = tag[1] if tag else ""
            if name in MARKED or tags[ord(letter) - FIRST].startswith("{% block body_class"):
                inside = name
            elif inside and name == f"end{inside}":
                inside = ""
            kept.append(" " if inside or not tag else "\n")
        elif not inside:
            kept.append(letter)
    return "".join(kept)


def _pieces(page: str) -> Iterator[str]:
    at, silent = 0, ""
    for found in TAG_OF_HTML.finditer(page):
        if not silent:
            yield from page[at : found.start()].split("\n")
        at, name = found.end(), (found[2] or "").lower()
        if name in SILENT:
            silent = "" if found[1] else name
        for attribute in SEEN.finditer(found[3] or ""):
            yield attribute[1]
    yield from page[at:].split("\n")


def _words(piece: str) -> str:
    bare = "".join(letter for letter in piece if not 0xE000 <= ord(letter) < 0xF8FF)
    return " ".join(bare.split()) if WORD.search(SAME.sub("", bare)) else ""
