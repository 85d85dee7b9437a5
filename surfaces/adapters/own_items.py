"""Decide whether an item of a service is our own text. Pure.

A service may leave out the author or the parent, and may change white space. An item that could
be ours and cannot be told apart is neither found nor absent.
"""

import unicodedata

from surfaces.adapters.types import Item


def normalised(text: str) -> str:
    """Text as it is compared: one blank for any white space, composed characters."""
    return " ".join(unicodedata.normalize("NFC", text).replace("\ufeff", " ").split())


def same_text(there: str, ours: str) -> bool:
    return normalised(there) == normalised(ours)


def has_no_author(item: Item) -> bool:
    return not (item.author or item.author_id)


def may_be_ours(item: Item) -> bool:
    return item.is_ours or has_no_author(item)


def may_be_our_reply(item: Item, parent_id: str | None) -> bool:
    """Whether a comment could be our reply to `parent_id`; a missing parent could be any."""
    return may_be_ours(item) and item.parent_id in (parent_id, None)
