"""The other protocols a model may speak, on a pretend wire: Anthropic, OpenAI's own, Ollama."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from dialogue.errors import (
    VoiceDown,
    VoiceError,
    VoiceLimited,
    VoiceMisconfigured,
    VoiceRefused,
    VoiceTooLong,
)
from dialogue.voice.base import Brief, GenerationSettings, ModelConfig, Reply, ThreadMessage
from dialogue.voice.llm.redaction import mask_secrets
from dialogue.voice.llm.voice import ModelVoice
from tests.dialogue.voice.usage_recorder import Watching

KEY = "neverShowThis-0123456789"  # shaped like nothing we know
PARTS = {"terms": "We are asking.", "pointer": "You wrote “tide”.", "exit": "What did you see?"}
CLAUDE = "anthropic:claude-sonnet-4-5"
BRIEF = Brief(
    purpose="reply",
    name="Iris",
    handle="iris",
    comment=ThreadMessage(author="bob", text="Why the tide?"),
)


class Wire:
    """Answers every request the same way, and remembers them."""

    def __init__(self, answer: Callable[[httpx2.Request], httpx2.Response]) -> None:
        self.requests: list[httpx2.Request] = []
        self.answer = answer

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self.answer(request)

    def write(self, mind: ModelConfig, watch: Watching | None = None) -> Reply:
        voice = ModelVoice(
            [mind], GenerationSettings(timeout=10), transport=httpx2.MockTransport(self)
        )
        return voice.write(BRIEF, watch or Watching())


def wire_that_says(status: int, body: Any, **headers: str) -> Wire:
    return Wire(lambda request: httpx2.Response(status, json=body, headers=headers))


def claude_says(**changes: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "tool_use", "id": "tool_1", "name": "write", "input": PARTS}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 800, "output_tokens": 90},
    } | changes


def test_claude_is_asked_at_home_with_our_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of-the-environment")
    watch, wire = Watching(), wire_that_says(200, claude_says())
    assert wire.write(ModelConfig(model=CLAUDE, key=KEY), watch).terms == "We are asking."

    [request] = wire.requests
    assert str(request.url).startswith("https://api.anthropic.com/v1/messages")
    sent = str(request.headers.raw)
    assert KEY in sent
    assert "of-the-environment" not in sent
    [line] = watch.lines
    assert (line.said["tokens_in"], line.said["tokens_out"]) == (800, 90)
    assert line.said["cost"] > 0


def test_claude_may_live_at_another_address():
    wire = wire_that_says(200, claude_says())
    wire.write(ModelConfig(model=CLAUDE, base_url="https://proxy.example/claude"))
    assert str(wire.requests[0].url).startswith("https://proxy.example/claude/v1/messages")


def claude_fails(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, claude_fails("rate_limit_error"), VoiceLimited),
        (529, claude_fails("overloaded_error"), VoiceDown),
        (500, claude_fails("api_error"), VoiceDown),
        (401, claude_fails("authentication_error"), VoiceMisconfigured),
        (404, claude_fails("not_found_error"), VoiceMisconfigured),
        (400, claude_fails("billing_error", "Your credit balance is too low"), VoiceMisconfigured),
        (
            400,
            claude_fails("invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"),
            VoiceTooLong,
        ),
        (200, claude_says(content=[], stop_reason="refusal"), VoiceRefused),
        (200, {"hello": "world"}, VoiceDown),
    ],
)
def test_claude_fails_in_the_same_words_as_others(status: int, body: Any, kind: type[VoiceError]):
    watch, wire = Watching(), wire_that_says(status, body, **{"retry-after": "7"})
    with pytest.raises(VoiceError) as caught:
        wire.write(ModelConfig(model=CLAUDE, key=KEY), watch)
    assert type(caught.value) is kind
    assert len(wire.requests) == len(watch.lines) == (2 if kind is VoiceTooLong else 1)
    assert KEY not in repr(watch.lines) + repr(caught.value)


def test_openai_at_home_speaks_its_newer_protocol(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "write",
        "arguments": json.dumps(PARTS),
        "status": "completed",
    }
    said = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_780_000_000,
        "model": "gpt-4o-mini",
        "status": "completed",
        "output": [call],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 700,
            "output_tokens": 80,
            "total_tokens": 780,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
    watch, wire = Watching(), wire_that_says(200, said)
    assert (
        wire.write(ModelConfig(model="openai:gpt-4o-mini", key=KEY), watch).exit
        == "What did you see?"
    )
    [request] = wire.requests
    assert str(request.url) == "https://api.openai.com/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert watch.lines[0].said["tokens_in"] == 700


@pytest.mark.parametrize(
    ("mind", "address"),
    [
        (ModelConfig(model="openai-chat:gpt-4o", key=KEY), "https://api.openai.com/v1"),
        (ModelConfig(model="ollama:qwen3"), "http://localhost:11434/v1"),
        (ModelConfig(model="ollama:qwen3", base_url="http://box:1/v1"), "http://box:1/v1"),
        (ModelConfig(model="openai:qwen3", base_url="http://box:1/v1/"), "http://box:1/v1"),
        (ModelConfig(model="deepseek:deepseek-chat", key=KEY), "https://api.deepseek.com"),
        (ModelConfig(model="groq:llama", base_url="http://box:1/v1"), "http://box:1/v1"),
    ],
    ids=lambda given: given.model if isinstance(given, ModelConfig) else "",
)
def test_everybody_else_speaks_chat_completions(mind: ModelConfig, address: str):
    call = {"name": "write", "arguments": json.dumps(PARTS)}
    message = {
        "role": "assistant",
        "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
    }
    said = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "anything",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }
    wire = wire_that_says(200, said)
    assert wire.write(mind).pointer == "You wrote “tide”."
    assert str(wire.requests[0].url) == f"{address}/chat/completions"


@pytest.mark.parametrize("error", [httpx2.ConnectError, httpx2.ConnectTimeout])
def test_a_lost_address_is_down_and_cost_nothing(error: type[httpx2.TransportError]):
    def lost(request: httpx2.Request) -> httpx2.Response:
        raise error("no such host", request=request)

    watch = Watching()
    with pytest.raises(VoiceDown, match="could not be reached"):
        Wire(lost).write(ModelConfig(model=CLAUDE, key=KEY), watch)
    assert not watch.lines[0].said["may_have_cost"]


def test_what_is_noted_can_be_stored_and_holds_no_key():
    said = f"a\x00b\ud800c {KEY} and sk-live-abcdefghijklmnopqrstuv\n"
    assert mask_secrets(said, KEY) == "abc [key] and [key]\n"
    assert mask_secrets("nothing to hide", "") == "nothing to hide"
    assert mask_secrets("a plain e", "e") == "a plain e", "too short to be a key"
