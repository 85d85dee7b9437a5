"""Voices write text: from templates, or with language models in order.

No code here uses rows, settings or surfaces. `open_voice` is the only entry point.
"""

from collections.abc import Sequence

from dialogue.voice.base import GenerationSettings, ModelConfig, Voice

__all__ = ["open_voice"]


def open_voice(kind: str, minds: Sequence[ModelConfig], knobs: GenerationSettings) -> Voice:
    """Open the voice that `kind` names: scripted, or model."""
    if kind == "model":
        # Imported here: the model libraries take two seconds and a hundred megabytes, and most
        # processes never use them.
        from dialogue.voice.llm.voice import ModelVoice

        return ModelVoice(minds, knobs)
    if kind == "scripted":
        from dialogue.voice.scripted.voice import ScriptedVoice

        return ScriptedVoice()
    raise ValueError(f"{kind!r} is no voice")
