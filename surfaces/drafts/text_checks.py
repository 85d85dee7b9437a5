"""Check text before it is sent. Pure; each problem is a reason."""

from __future__ import annotations

import re
import unicodedata

from surfaces.adapters.base import Traits
from surfaces.text.reasons import StoredReason, as_reason, reason

SURROGATES = re.compile("[\ud800-\udfff]")
# Shapes of credentials that must never be posted, whoever wrote them.
SECRETS = re.compile(
    r"(?x) moltbook_[A-Za-z0-9_]{16,} | sk-[A-Za-z0-9_-]{20,} | gh[pousr]_[A-Za-z0-9]{30,}"
    r" | AKIA[0-9A-Z]{16} | xox[abprs]-[A-Za-z0-9-]{10,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
    r" | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----"
)


def find_text_problems(
    *, text: str, title: str = "", is_post: bool = False, traits: Traits
) -> list[StoredReason]:
    """All problems of the text, in order; [] if there are none."""
    found = [
        *unwritable(text, "part.text"),
        *unwritable(title, "part.title"),
        *_too_long(text, title, is_post, traits),
    ]
    if not text.strip():
        found.insert(0, as_reason("text.empty"))
    if is_post and not title.strip():
        found.insert(0, as_reason("text.no_title"))
    if SECRETS.search(text) or SECRETS.search(title):
        found.append(as_reason("text.secret"))
    return found


def unwritable(text: str, name: str) -> list[StoredReason]:
    """Characters in `text` that cannot be stored or sent."""
    if SURROGATES.search(text):
        return [reason("text.surrogate", name=as_reason(name))]
    bad = sorted(
        {hex(ord(c)) for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t\r"}
    )
    return (
        [reason("text.control_characters", name=as_reason(name), value=", ".join(bad[:3]))]
        if bad
        else []
    )


def _too_long(text: str, title: str, is_post: bool, traits: Traits) -> list[StoredReason]:
    found = []
    most = (is_post and traits.post_limit) or traits.text_limit
    if (length := traits.length(text)) > most:
        found.append(reason("text.too_long", length=length, label=traits.label, most=most))
    if is_post and (length := traits.length(title)) > traits.title_limit:
        found.append(
            reason(
                "text.title_too_long",
                length=length,
                label=traits.label,
                title_limit=traits.title_limit,
            )
        )
    return found
