"""A model's server that answers to do harm costs neither memory nor more time than allowed."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from dialogue.errors import VoiceDown
from dialogue.voice.base import GenerationSettings, ModelConfig
from tests.dialogue.voice.requests import KEY, why_not
from tests.fakes.hostile import ENDLESS, PACKED, SLOW, Hostile

MEGABYTE = 1024 * 1024


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("attack", [*PACKED, *ENDLESS, *SLOW])
def test_a_hostile_model_server_is_left(attack: str, streams: bool):
    with Hostile(attack, bomb=256) as fake:
        mind = ModelConfig(
            model="openai:gpt-4o-mini", base_url=fake.root + "/v1", key=KEY, streams=streams
        )
        why_not(mind, knobs=GenerationSettings(timeout=1))  # loads the client's library
        tracemalloc.start()
        began = time.monotonic()
        error = why_not(mind, knobs=GenerationSettings(timeout=1))
        took = time.monotonic() - began
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert type(error) is VoiceDown
    assert most < 64 * MEGABYTE
    assert took < 30  # without the deadline: for ever
