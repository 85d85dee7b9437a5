"""Validate text for the hub. Each error is a sentence for the author."""

from surfaces.adapters.parsing import UNSTORABLE
from surfaces.errors import BadInput
from surfaces.hub.models import LONGEST_TEXT, LONGEST_TITLE

LONGEST_KEY = 200


def fit_title(title: str) -> str:
    title = storable(" ".join(title.split()), "title")
    if len(title) > LONGEST_TITLE:
        raise BadInput(f"A title has at most {LONGEST_TITLE} characters; this has {len(title)}.")
    return title


def fit_text(content: str) -> str:
    content = storable(content.strip(), "text")
    if not content:
        raise BadInput("Say something: the text is empty.")
    if len(content) > LONGEST_TEXT:
        raise BadInput(f"A text has at most {LONGEST_TEXT} characters; this has {len(content)}.")
    return content


def fit_key(key: str) -> str:
    if len(key) > LONGEST_KEY:
        raise BadInput(f"An idempotency key has at most {LONGEST_KEY} characters.")
    return storable(key, "idempotency key")


def storable(text: str, what: str) -> str:
    if UNSTORABLE.search(text):
        raise BadInput(f"The {what} contains a character that cannot be stored.")
    return text
