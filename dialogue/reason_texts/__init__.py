"""The sentences behind the codes that the first floor stores.

Importing this registers them; `dialogue.models` does, so they are there with the first row.
"""

from dialogue.reason_texts import replies, voice

__all__ = ["replies", "voice"]
