"""Who writes the words: a template without any model, or models that are asked in turn.

Nothing here knows a row, a setting or a surface. `open_voice` is the only door.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialogue.voice.base import Knobs, Mind, Voice

__all__ = ["open_voice"]


def open_voice(kind: str, minds: Sequence[Mind], knobs: Knobs) -> Voice:
    """Open the voice that `kind` names: scripted, or model."""
    if kind == "model":
        # Not at the top: what models need takes two seconds to import and a hundred
        # megabytes to hold, and most processes never ask one.
        from dialogue.voice.model import ModelVoice

        return ModelVoice(minds, knobs)
    if kind == "scripted":
        from dialogue.voice.scripted import Scripted

        return Scripted()
    raise ValueError(f"{kind!r} is no voice")
