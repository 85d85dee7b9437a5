"""What the fake model says, and in which form: tool calls, or JSON in the content."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

USAGE = {"prompt_tokens": 900, "completion_tokens": 120, "total_tokens": 1_020}
ODD_USAGE = {"prompt_tokens": "some", "completion_tokens": "many", "total_tokens": None}
NEGATIVE_USAGE = {"prompt_tokens": -5, "completion_tokens": 5, "total_tokens": 0}
HUGE_USAGE = {"prompt_tokens": 10**15, "completion_tokens": 10**15, "total_tokens": 10**15}
PIECE = 40  # characters of one streamed piece
FORM = "write"  # the tool that takes the answer
Call = tuple[str, Any]  # its name, and its arguments: an object, or JSON as it is written
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
    more = {"title": f"Of the {one} and the {four}", "post": 1}
    return {name: said for name, said in more.items() if _wants(name, body)} | words


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


def _wants(name: str, body: dict[str, Any]) -> bool:
    """Whether the schema of the answer has this field."""
    asked = {**body, "tools": [it for it in body.get("tools", []) if _name(it) == _tool(body)]}
    return bool(re.search(rf'"{name}": ?\{{', json.dumps(asked).replace('\\"', '"')))


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
    "prose": lambda words: {"text": words["pointer"], "as_content": True},
    "calls": lambda words: {"text": "", "finish": "tool_calls"},
    "calls-and-answer": _json,
    "calls-length": lambda words: {"text": "", "finish": "length", "is_half": True},
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


def answer_of(
    name: str, words: dict[str, Any], calls: Sequence[Call] = (), ids: Sequence[str] = ()
) -> dict[str, Any]:
    """What is said: the text, the tools called, the reason to finish, a refusal, the usage."""
    said = {"finish": "stop", "refusal": None, "usage": USAGE, "calls": calls, "ids": ids}
    return said | SAYINGS[name](words)


def _tool_calls(said: dict[str, Any], body: dict[str, Any]) -> list[dict[str, Any]]:
    """Tools that are called, the form last."""
    written = [
        (name, given if isinstance(given, str) else json.dumps(given))
        for name, given in said.get("calls", ())
    ]
    if (tool := _tool(body)) and said["text"] and not said.get("as_content"):
        written.append((tool, said["text"]))
    if said.get("is_half"):
        name, given = written[-1]
        written[-1] = (name, given[: len(given) // 2])
    ids = [*said.get("ids", ()), *(f"call_{n}" for n in range(len(written)))]
    return [
        {"id": ids[n], "type": "function", "function": {"name": name, "arguments": given}}
        for n, (name, given) in enumerate(written)
    ]


def _content(said: dict[str, Any], body: dict[str, Any]) -> str | None:
    return None if _tool(body) and not said.get("as_content") else said["text"]


def whole(said: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _content(said, body)}
    if said["refusal"]:
        message |= {"content": None, "refusal": said["refusal"]}
    elif calls := _tool_calls(said, body):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(said, body)}
    usage = {"usage": said["usage"]} if said["usage"] else {}
    choices = [choice][: said.get("choices", 1)]
    return _head("chat.completion", body) | {"choices": choices} | usage


def pieces(said: dict[str, Any], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same in the pieces of a stream."""
    if said.get("choices", 1) == 0:
        return
    content = _content(said, body)
    yield _piece(body, {"role": "assistant", "content": None if content is None else ""})
    if said["refusal"]:
        yield _piece(body, {"refusal": said["refusal"]})
    else:
        yield from (_piece(body, {"content": part}) for part in _cut(content or ""))
        for index, call in enumerate(_tool_calls(said, body)):
            written = call["function"]["arguments"]
            begin = {"index": index} | call | {"function": call["function"] | {"arguments": ""}}
            yield _piece(body, {"tool_calls": [begin]})
            for part in _cut(written):
                more = {"index": index, "function": {"arguments": part}}
                yield _piece(body, {"tool_calls": [more]})
    yield _piece(body, {}, _finish(said, body))
    if said["usage"] and (body.get("stream_options") or {}).get("include_usage"):
        yield _head("chat.completion.chunk", body) | {"choices": [], "usage": said["usage"]}


def _cut(text: str) -> Iterator[str]:
    size = max(PIECE, len(text) // 1_000)
    return (text[at : at + size] for at in range(0, len(text), size))


def _piece(
    body: dict[str, Any], delta: dict[str, Any], finish: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _head("chat.completion.chunk", body) | {"choices": [choice]}


def _head(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_780_000_000, "model": body["model"]}


def _name(tool: dict[str, Any]) -> str:
    return str(tool["function"]["name"])


def _tool(body: dict[str, Any]) -> str:
    """The tool that takes the answer, if it is a tool."""
    return FORM if FORM in map(_name, body.get("tools") or []) else ""


def _finish(said: dict[str, Any], body: dict[str, Any]) -> str:
    called = said["finish"] == "stop" and not said["refusal"] and _tool_calls(said, body)
    return "tool_calls" if called else said["finish"]


def error_of(message: str, *, code: str | None = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
