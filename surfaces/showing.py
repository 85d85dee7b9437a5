"""Make strangers' words safe to show. Pure: text in, HTML or one line out.

What comes out holds no script, no image, no style, nothing that the browser would
fetch, and no link into our own pages. Its direction cannot leak into ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, MutableMapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

MOST = 20_000  # characters rendered; the rest is counted
TAGS = {
    "p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "a", "br", "hr", "div",
}  # fmt: skip
SCHEMES = {"http", "https", "mailto"}
# Embeddings, overrides and isolates: they rearrange letters and say nothing.
REARRANGING = re.compile("[\u202a-\u202e\u2066-\u2069]")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# A run of these makes the parser think in squares; nobody writes so many.
RUNS = re.compile(r"([\[\]!*_`<>&\\(])\1{30,}")

Env = MutableMapping[str, Any]


class Words(RendererHTML):
    """Headings become bold lines, images their alt text, links name their host."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: Any, env: Env) -> str:
        return "<p><strong>"

    def heading_close(self, tokens: Sequence[Token], at: int, options: Any, env: Env) -> str:
        return "</strong></p>\n"

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: Env) -> str:
        alt = tokens[at].content.strip()
        return nh3.clean_text(f"[image: {alt}]" if alt else "[image]")

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Env) -> str:
        if not _allowed(_href(tokens[at])):
            return ""
        return str(self.renderToken(tokens, at, options, env))

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Env) -> str:
        opening = next(i for i in range(at, -1, -1) if tokens[i].type == "link_open")
        url = _href(tokens[opening])
        if not _allowed(url):
            return " (link removed)"
        host = urlsplit(url).hostname or ""
        shown = "".join(token.content for token in tokens[opening:at])
        return "</a>" if not host or shown.startswith(url) else f"</a> ({nh3.clean_text(host)})"


def _href(opening: Token) -> str:
    return str(opening.attrGet("href") or "")


def _allowed(url: str) -> bool:
    """Absolute, and of a scheme that only opens a page or a mail."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme.lower() in SCHEMES and bool(parts.netloc or parts.scheme == "mailto")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=Words)
    # All are parsed; the renderer decides. A refused one would show its source instead.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


PARSER = _parser()


def said(text: str) -> str:
    """Render markdown that a stranger wrote as HTML that cannot harm."""
    shown, hidden = text[:MOST], len(text) - MOST
    shown = RUNS.sub(lambda run: run[1] * 30, REARRANGING.sub("", CONTROLS.sub("", shown)))
    html = nh3.clean(
        str(PARSER.render(shown)),
        tags=TAGS,
        attributes={"*": set(), "a": {"href"}},
        url_schemes=SCHEMES,
        link_rel="nofollow noopener ugc",
    )
    if hidden > 0:
        html += f"<p>… ({hidden:,} more characters)</p>"
    return f'<div class="words" dir="auto">{html}</div>'


def plain(text: str, most: int = 160) -> str:
    """Return the beginning of `text` on one line, not marked safe."""
    line = REARRANGING.sub("", CONTROLS.sub("", text[: most * 8]))
    line = " ".join(line.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def initials(name: str) -> str:
    """Two letters for a face: "Mira Kovač" MK, "gabriel@hub" Ga."""
    words = re.findall(r"\w+", name.strip("@").split("@")[0])
    if not words:
        return "?"
    if len(words) == 1:
        return str(words[0][:2].capitalize())
    return f"{words[0][0]}{words[1][0]}".upper()


def span(length: timedelta, *, short: bool = False) -> str:
    """Say a length of time in its two largest units, or in one if `short`: "2 h 14 min"."""
    seconds = max(int(length.total_seconds()), 0)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [
        (days, "day" if days == 1 else "days"),
        (hours, "h"),
        (minutes, "min"),
        (seconds, "s"),
    ]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    kept = [f"{value} {unit}" for value, unit in parts[: 1 if short else 2] if value]
    return " ".join(kept) or "0 s"


def facts(given: Mapping[str, object]) -> list[tuple[str, str]]:
    """The facts of a ledger line in words; [before, after] becomes "before → after"."""
    return [(name.replace("_", " "), _fact(value)) for name, value in given.items()]


def _fact(value: object) -> str:
    if isinstance(value, list) and len(value) == 2:
        return f"{_one(value[0])} → {_one(value[1])}"
    if isinstance(value, dict | list):
        return plain(json.dumps(value, ensure_ascii=False), 200)
    return _one(value)


def _one(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value in (None, "") else plain(str(value), 200)
