"""What of a provider's words may be kept: without keys, and as PostgreSQL can hold it."""

from __future__ import annotations

import re

from surfaces.checks import SECRETS

SHORTEST_KEY = 6  # characters; what is shorter is a placeholder, and masking it spoils words
MASK = "[key]"
_UNKEPT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def masked(text: str, key: str) -> str:
    """`text` without `key`, without anything shaped like a key, without what cannot be stored."""
    if len(key) >= SHORTEST_KEY:
        text = text.replace(key, MASK)
    return SECRETS.sub(MASK, _UNKEPT.sub("", text))


def capped(text: str, key: str, most: int) -> str:
    """Masked before it is cut: half a key is no longer recognised."""
    return masked(text, key)[:most]
