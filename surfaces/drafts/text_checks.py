"""Check text before it is sent. Pure; each problem is a reason."""

import re
import unicodedata

from surfaces.adapters.base import Traits
from surfaces.text.reasons import StoredReason, as_reason, reason

SURROGATES = re.compile("[\ud800-\udfff]")
# Shapes of credentials that must never be posted, whoever wrote them.
SECRETS = re.compile(
    r"(?x) moltbook_[A-Za-z0-9_]{16,} | \b(?:clq|hub|whsec)_[\w+/=-]{24,}"
    r" | sk-[A-Za-z0-9_-]{20,} | gh[pousr]_[A-Za-z0-9]{30,}"
    r" | AKIA[0-9A-Z]{16} | xox[abprs]-[A-Za-z0-9-]{10,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
    r" | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----"
)


def find_text_problems(
    *, text: str, title: str = "", is_post: bool = False, traits: Traits
) -> list[StoredReason]:
    found = [
        *unwritable(text, "part.text"),
        *unwritable(title, "part.title"),
    ]
    most = (is_post and traits.post_limit) or traits.text_limit
    if (length := traits.length(text)) > most:
        found.append(reason("text.too_long", length=length, label=traits.label, most=most))
    most = traits.title_limit
    if is_post and (length := traits.length(title)) > most:
        values = {"length": length, "label": traits.label, "title_limit": most}
        found.append(reason("text.title_too_long", **values))
    if not text.strip():
        found.insert(0, as_reason("text.empty"))
    if is_post and not title.strip():
        found.insert(0, as_reason("text.no_title"))
    if SECRETS.search(text) or SECRETS.search(title):
        found.append(as_reason("text.secret"))
    return found


def unwritable(text: str, name: str) -> list[StoredReason]:
    if SURROGATES.search(text):
        return [reason("text.surrogate", name=as_reason(name))]
    controls = {c for c in text if unicodedata.category(c) == "Cc"} - set("\n\t\r")
    if not controls:
        return []
    shown = ", ".join(sorted(hex(ord(c)) for c in controls)[:3])
    return [reason("text.control_characters", name=as_reason(name), value=shown)]
