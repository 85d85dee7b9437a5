"""Render untrusted markdown as safe HTML. Pure.

What comes out holds no script, no image, no style, nothing that the browser would
fetch, and no link into our own pages. Its direction cannot leak into ours.
"""

import re
from collections.abc import MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from surfaces.text.format import CONTROLS, REARRANGING

MOST = 20_000  # characters rendered; the rest is counted
TAGS = {
    "p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "a", "br", "hr", "div",
}  # fmt: skip
SCHEMES = {"http", "https", "mailto"}
# A run of these makes the parser think in squares; nobody writes so many.
RUNS = re.compile(r"([\[\]!*_`<>&\\(])\1{30,}")

# One line of letters, numbers and marks that mean nothing to markdown or HTML: most comments.
PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:?!'’“”…%/()–—-])*(?<! )")

Env = MutableMapping[str, Any]


class StrangersTextRenderer(RendererHTML):
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


OPTIONS = {"html": False, "linkify": False}
PARSER = MarkdownIt("commonmark", OPTIONS, renderer_cls=StrangersTextRenderer)
# All are parsed; the renderer decides. A refused one would show its source instead.
PARSER.validateLink = lambda url: True  # type: ignore[method-assign]


def render_untrusted(text: str) -> str:
    """Render markdown that a stranger wrote as HTML that cannot harm."""
    if len(text) <= MOST and PLAIN.fullmatch(text):
        return f'<div class="words" dir="auto"><p>{text}</p>\n</div>'
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
