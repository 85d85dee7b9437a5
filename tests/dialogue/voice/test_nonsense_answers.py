"""Answers that no library foresaw: one failed request, settled, and the next model's turn."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from dialogue.errors import VoiceDown
from dialogue.voice.base import GenerationSettings, ModelConfig
from dialogue.voice.llm.voice import ModelVoice
from tests.dialogue.voice.requests import KEY, brief, streamed
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_words import answer_of, pieces, whole

WORDS = {"terms": "We speak of tides.", "pointer": "You wrote of a table."}
Answer = Callable[[dict[str, Any]], Any]


def said(**changes: Any) -> Answer:
    """A good answer with something odd about it, whole or in pieces, as it is asked for."""

    def answer(body: dict[str, Any]) -> Any:
        good = answer_of("good", WORDS) | changes.get("said", {})
        odd = changes.get("odd", {})
        if body.get("stream"):
            return [piece | odd for piece in pieces(good, body)]
        return whole(good, body) | odd

    return answer


def asked(answer: Answer, *, status: int = 200, streams: bool = False) -> tuple[Watching, Any]:
    """What comes of it when a first model answers so and a second one well."""

    def reply(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        came = answer(body) if body["model"] == "odd" else said()(body)
        if not isinstance(came, list):
            code = status if body["model"] == "odd" else 200
            return httpx2.Response(code, text=json.dumps(came))
        lines = "".join(f"data: {json.dumps(piece)}\n\n" for piece in came)
        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=kind, text=f"{lines}data: [DONE]\n\n")

    watch = Watching()
    minds = [
        ModelConfig(model=f"openai:{name}", base_url="http://here/v1", key=KEY, streams=streams)
        for name in ("odd", "even")
    ]
    voice = ModelVoice(minds, GenerationSettings(timeout=60), transport=httpx2.MockTransport(reply))
    return watch, voice.write(brief(), watch)


@pytest.mark.parametrize(
    "answer",
    [
        said(said={"text": '{"terms": "half \ud800", "pointer": "of it"}'}),
        said(said={"text": "half \ud800", "as_content": True}),
        said(said={"text": "word " * 30_000, "as_content": True}),
    ],
    ids=["half-character-in-form", "half-character", "far-too-long"],
)
@streamed
def test_an_answer_that_nobody_can_send_back_is_not_asked_for_again(answer: Answer, streams: bool):
    watch, written = asked(answer, streams=streams)
    assert written.terms == WORDS["terms"]
    assert [line.model for line in watch.lines] == ["openai:odd", "openai:even"]
    assert watch.ends_of == ["answered", "answered"]


@pytest.mark.parametrize("name", [42, {"a": "name"}])
def test_a_model_that_calls_itself_no_name_fails_and_is_settled(name: Any):
    watch, _ = asked(said(odd={"model": name}), streams=True)
    assert watch.ends_of == ["failed", "answered"]
    assert watch.lines[0].said["may_have_cost"]


def test_an_error_whose_code_is_no_word_is_an_error_like_any_other():
    error = {"error": {"message": "No.", "code": ["a"], "type": {"b": 1}}}
    watch, _ = asked(lambda body: error, status=400)
    assert watch.ends_of == ["failed", "answered"]
    assert "rejected the request: No." in watch.lines[0].said["why"]


@pytest.mark.parametrize("cost", ["1e30", "123456789"])
@streamed
def test_a_gateway_that_asks_for_a_fortune_is_not_believed(cost: str, streams: bool):
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "logfire_ai_gateway": {"cost": cost}}
    watch, _ = asked(said(said={"usage": usage | {"total_tokens": 14}}), streams=streams)
    assert watch.lines[0].said["cost"] is None


@streamed
def test_a_gateway_that_says_what_it_cost_is_believed(streams: bool):
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "logfire_ai_gateway": {"cost": "0.25"}}
    watch, _ = asked(said(said={"usage": usage | {"total_tokens": 14}}), streams=streams)
    assert watch.lines[0].said["cost"] == Decimal("0.25")


def test_half_a_token_is_counted_by_guess():
    usage = {"prompt_tokens": 9.5, "completion_tokens": 5.5, "total_tokens": 15}
    watch, _ = asked(said(said={"usage": usage}), streams=True)
    assert watch.lines[0].said["facts"]["counted"] is False
    assert isinstance(watch.lines[0].said["tokens_in"], int)


def test_a_name_that_takes_long_to_look_up_takes_no_longer_than_the_request(
    monkeypatch: pytest.MonkeyPatch,
):
    is_over = threading.Event()

    def look_up(*args: Any, **given: Any) -> Any:
        is_over.wait(30)  # nothing can interrupt it
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    mind, watch = (
        ModelConfig(model="openai:far", base_url="http://far.example/v1", key=KEY),
        Watching(),
    )
    began = time.monotonic()
    try:
        with pytest.raises(VoiceDown):
            ModelVoice([mind], GenerationSettings(timeout=0.5)).write(brief(), watch)
        assert time.monotonic() - began < 2.5
    finally:
        is_over.set()
    assert watch.ends_of == ["failed"]
