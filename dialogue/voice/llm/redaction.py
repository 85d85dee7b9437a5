"""Clean provider messages for storage: mask keys, drop what PostgreSQL refuses."""

import re

from surfaces.drafts.text_checks import SECRETS

SHORTEST_KEY = 6  # characters; a shorter key is a placeholder and is not masked
MASK = "[key]"
_UNKEPT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def mask_secrets(text: str, key: str) -> str:
    """Mask `key` and anything shaped like a key, and drop what cannot be stored."""
    if len(key) >= SHORTEST_KEY:
        text = text.replace(key, MASK)
    return SECRETS.sub(MASK, _UNKEPT.sub("", text))


def capped(text: str, key: str, most: int) -> str:
    """Mask, then cut: half a key would not be recognised."""
    return mask_secrets(text, key)[:most]
