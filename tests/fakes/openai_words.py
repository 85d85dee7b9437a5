"""What the fake model says, and in which form: a tool call, or JSON in the content."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

USAGE = {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1_020}
ODD_USAGE = {"prompt_tokens": "some", "completion_tokens": "many", "total_tokens": None}
NEGATIVE_USAGE = {"prompt_tokens": -5, "completion_tokens": 5, "total_tokens": 0}
HUGE_USAGE = {"prompt_tokens": 10**15, "completion_tokens": 10**15, "total_tokens": 10**15}
PIECE = 40  # characters of one streamed piece
NOUNS = (
    "tide harbour lantern orchard ladder mirror window river kettle garden letter bridge stone "
    "candle ledger compass thread needle anchor meadow attic cellar signal shadow echo border "
    "market school winter summer engine pocket rumour promise silence habit doubt memory"
)


def words_for(body: dict[str, Any]) -> dict[str, Any]:
    """Terms, pointer, exit, and a title if one is asked for; distinct for each prompt."""
    prompt = _prompt(body)
    rng = random.Random(sha256(prompt.encode("utf-8", "replace")).hexdigest())
    one, two, three, four, five, six = rng.sample(NOUNS.split(), 6)
    comment = _comment(prompt)
    words = {
        "terms": f"We speak of the {one} and the {two} here, and of who decides what a {three} is.",
        "pointer": f"You wrote “{comment}”, which leans on a {four}.",
        "exit": f"Would the {five} still hold without its {six}?",
    }
    return {"title": f"Of the {one} and the {four}"} | words if _wants_title(body) else words


def _prompt(body: dict[str, Any]) -> str:
    texts = [
        message.get("content") for message in body["messages"] if message.get("role") == "user"
    ]
    return "\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts)


def _comment(prompt: str) -> str:
    """Some words of the last text of the prompt that somebody else wrote."""
    blocks = re.findall(r"(?s)begin text \d+ · written by somebody else.*?end text \d+", prompt)
    lines = re.findall(r"(?m)^\| ?(.+)$", blocks[-1]) if blocks else prompt.splitlines()
    said = re.sub(r"[^\w\s,'’-]|https?\S*", " ", " ".join(lines))
    return " ".join(said.split())[:60].strip() or "nothing"


def _wants_title(body: dict[str, Any]) -> bool:
    return bool(re.search(r'"title": ?\{', json.dumps(body).replace('\\"', '"')))


def _json(value: Any) -> dict[str, Any]:
    return {"text": json.dumps(value)}


# What is said: by the name of an outcome, made from the words of a good answer.
SAYINGS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "good": _json,
    "wrong_schema": lambda words: _json({"answer": 42}),
    "extra_fields": lambda words: _json(
        words | {"text": "HIJACKED", "settings": {"mode": "auto"}, "tool": "rm -rf /"}
    ),
    "no_json": lambda words: {"text": "I would rather say it in prose."},
    "length": lambda words: {"text": json.dumps(words)[:50], "finish": "length"},
    "refusal": lambda words: {"text": "", "refusal": "I cannot help with that."},
    "content_filter": lambda words: {"text": "", "finish": "content_filter"},
    "empty": lambda words: {"text": ""},
    "empty_choices": lambda words: _json(words) | {"choices": 0},
    "no_usage": lambda words: _json(words) | {"usage": None},
    "odd_usage": lambda words: _json(words) | {"usage": ODD_USAGE},
    "negative_usage": lambda words: _json(words) | {"usage": NEGATIVE_USAGE},
    "huge_usage": lambda words: _json(words) | {"usage": HUGE_USAGE},
}


def answer_of(name: str, words: dict[str, Any]) -> dict[str, Any]:
    """What is said: the text, the reason to finish, a refusal, the usage."""
    return {"finish": "stop", "refusal": None, "usage": USAGE} | SAYINGS[name](words)


def whole(said: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    tool, text = _tool(body), said["text"]
    message: dict[str, Any] = {"role": "assistant", "content": None if tool else text}
    if said["refusal"]:
        message |= {"content": None, "refusal": said["refusal"]}
    elif tool and text:
        call = {"name": tool, "arguments": text}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    choice = {"index": 0, "message": message, "finish_reason": _finish(said, tool)}
    usage = {"usage": said["usage"]} if said["usage"] else {}
    choices = [choice][: said.get("choices", 1)]
    return _head("chat.completion", body) | {"choices": choices} | usage


def pieces(said: dict[str, Any], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same in the pieces of a stream."""
    tool, text = _tool(body), said["text"]
    if said.get("choices", 1) == 0:
        return
    yield _piece(body, {"role": "assistant", "content": None if tool else ""})
    if said["refusal"]:
        yield _piece(body, {"refusal": said["refusal"]})
        text = ""
    elif tool and text:
        begin = {"index": 0, "id": "call_1", "type": "function"}
        yield _piece(body, {"tool_calls": [begin | {"function": {"name": tool, "arguments": ""}}]})
    for at in range(0, len(text), PIECE):
        part = text[at : at + PIECE]
        call = {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}
        yield _piece(body, call if tool else {"content": part})
    yield _piece(body, {}, _finish(said, tool))
    if said["usage"] and (body.get("stream_options") or {}).get("include_usage"):
        yield _head("chat.completion.chunk", body) | {"choices": [], "usage": said["usage"]}


def _piece(
    body: dict[str, Any], delta: dict[str, Any], finish: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _head("chat.completion.chunk", body) | {"choices": [choice]}


def _head(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_780_000_000, "model": body["model"]}


def _tool(body: dict[str, Any]) -> str:
    tools = body.get("tools")
    return str(tools[0]["function"]["name"]) if tools else ""


def _finish(said: dict[str, Any], tool: str) -> str:
    return "tool_calls" if tool and said["finish"] == "stop" and said["text"] else said["finish"]


def error_of(message: str, *, code: str | None = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
