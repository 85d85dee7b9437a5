"""Look over words before they leave: pure, each finding a sentence for people."""

from __future__ import annotations

import re
import unicodedata

from surfaces.adapters.base import Traits

SURROGATES = re.compile("[\ud800-\udfff]")
# Shapes of credentials that must never be posted, whoever wrote them.
SECRETS = re.compile(
    r"(?x) moltbook_[A-Za-z0-9_]{16,} | sk-[A-Za-z0-9_-]{20,} | gh[pousr]_[A-Za-z0-9]{30,}"
    r" | AKIA[0-9A-Z]{16} | xox[abprs]-[A-Za-z0-9-]{10,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
    r" | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----"
)


def problems(*, text: str, title: str = "", is_post: bool = False, traits: Traits) -> list[str]:
    """Say everything that keeps these words from being sent, in order; [] when nothing does."""
    found = [
        *unwritable(text, "text"),
        *unwritable(title, "title"),
        *_too_long(text, title, is_post, traits),
    ]
    if not text.strip():
        found.insert(0, "The text is empty. Write what should be said.")
    if is_post and not title.strip():
        found.insert(0, "A post needs a title.")
    if SECRETS.search(text) or SECRETS.search(title):
        found.append("The text holds something shaped like a key or a token. Take it out.")
    return found


def unwritable(text: str, name: str) -> list[str]:
    """Say what in `text` no database and no service would take."""
    if SURROGATES.search(text):
        return [f"The {name} holds half a character (a lone surrogate). Type that place again."]
    bad = sorted(
        {hex(ord(c)) for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t\r"}
    )
    return (
        [f"The {name} holds control characters ({', '.join(bad[:3])}). Take them out."]
        if bad
        else []
    )


def _too_long(text: str, title: str, is_post: bool, traits: Traits) -> list[str]:
    found = []
    most = (is_post and traits.post_limit) or traits.text_limit
    if (length := traits.length(text)) > most:
        found.append(f"The text has {length:,} characters; {traits.label} takes {most:,}.")
    if is_post and (length := traits.length(title)) > traits.title_limit:
        found.append(
            f"The title has {length:,} characters; {traits.label} takes {traits.title_limit:,}."
        )
    return found
