"""Ask the fake model for words, in one line of a test."""

from __future__ import annotations

from typing import Any

import pytest

from dialogue.errors import VoiceError
from dialogue.voice import open_voice
from dialogue.voice.base import Brief, GenerationSettings, ModelConfig, Reply, ThreadMessage
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI

KEY = "neverShowThis-0123456789"  # shaped like nothing we know
THREAD = tuple(ThreadMessage(author=f"voice {n}", text=f"Word {n}. " * 150) for n in range(8))
streamed = pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
styled = pytest.mark.parametrize("style", ["tool", "native", "prompted"])


def brief(**given: Any) -> Brief:
    comment = ThreadMessage(author="bob", text="Why does the tide not ask the harbour?")
    ordinary = {"purpose": "reply", "name": "Iris", "handle": "iris", "comment": comment}
    return Brief(**ordinary | given)


def mind(fake: FakeOpenAI, model: str = "openai:gpt-4o-mini", **given: Any) -> ModelConfig:
    return ModelConfig(**{"model": model, "base_url": fake.url, "key": KEY} | given)


def write(
    *minds: ModelConfig,
    watch: Watching | None = None,
    knobs: GenerationSettings | None = None,
    **given: Any,
) -> Reply:
    voice = open_voice("model", minds, knobs or GenerationSettings(timeout=10))
    return voice.write(brief(**given), watch or Watching())


def why_not(*minds: ModelConfig, watch: Watching | None = None, **given: Any) -> VoiceError:
    with pytest.raises(VoiceError) as caught:
        write(*minds, watch=watch, **given)
    return caught.value
