"""The messages of a conversation: keep them, shorten them, and go on from them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import DeferredToolResults

from dialogue.errors import VoiceBroken, VoiceTooLong
from dialogue.voice.base import CallOutcome
from dialogue.voice.llm.answers import FORM
from dialogue.voice.llm.redaction import capped, mask_secrets
from surfaces.text.reasons import reason

LARGEST = 2 * 1024 * 1024  # bytes of a conversation that is kept
LONGEST_RESULT = 20_000  # characters of a tool result; belts cut earlier
FEWEST_OF_RESULT = 200  # characters of a tool result that is shortened
NOT_DECIDED = "This call was not decided, and nothing was run."
NOT_TAKEN = "Not taken yet: another call of the same answer had to wait. Hand in your answer again."


def calls_of(message: ModelMessage) -> list[ToolCallPart]:
    """Its tool calls, without the form of the answer."""
    if not isinstance(message, ModelResponse):
        return []
    return [call for call in message.tool_calls if call.tool_name != FORM]


def count_calls(messages: Iterable[ModelMessage]) -> int:
    return sum(len(calls_of(message)) for message in messages)


def results_of(messages: Iterable[ModelMessage]) -> list[ToolReturnPart]:
    parts = (part for it in messages if isinstance(it, ModelRequest) for part in it.parts)
    return [part for part in parts if isinstance(part, ToolReturnPart) and part.tool_name != FORM]


def open_calls(messages: Sequence[ModelMessage]) -> list[str]:
    """Ids of the calls without a result."""
    done = {result.tool_call_id for result in results_of(messages)}
    ids = [call.tool_call_id for message in messages for call in calls_of(message)]
    return [each for each in ids if each not in done]


def plain_text(answer: ModelResponse) -> str:
    """Its text, if it is nothing but text."""
    if answer.tool_calls:
        return ""
    return "".join(part.content for part in answer.parts if isinstance(part, TextPart))


def with_short_results(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The older half of the tool results cut to their beginning."""
    found = [part for part in results_of(messages) if len(str(part.content)) > FEWEST_OF_RESULT]
    old = {id(part) for part in found[: (len(found) + 1) // 2]}

    def shorter(part: Any) -> Any:
        if id(part) not in old:
            return part
        return replace(part, content=f"{str(part.content)[:FEWEST_OF_RESULT]} [… shortened]")

    return _replaced(messages, shorter)


def with_prompt(messages: Sequence[ModelMessage], prompt: str) -> list[ModelMessage]:
    """The same conversation about a shorter first message."""
    first = next(
        (part for it in messages for part in it.parts if isinstance(part, UserPromptPart)), None
    )
    return _replaced(
        messages, lambda part: replace(part, content=prompt) if part is first else part
    )


def results(
    messages: Sequence[ModelMessage], outcomes: Mapping[str, CallOutcome]
) -> DeferredToolResults | None:
    """The results of the calls that waited."""
    found: dict[str, Any] = {}
    for call_id in open_calls(messages):
        outcome = outcomes.get(call_id) or CallOutcome(text=NOT_DECIDED, is_error=True)
        found[call_id] = failed(outcome) if outcome.is_error else ToolReturn(told(outcome))
    return DeferredToolResults(calls=found) if found else None


def told(outcome: CallOutcome) -> str:
    """The text of an outcome for the model, without what no request could hold."""
    return capped(outcome.text, "", LONGEST_RESULT)


def failed(outcome: CallOutcome) -> ToolFailed:
    """An error result. It counts against no retry budget."""
    return ToolFailed(told(outcome))


def _replaced(messages: Sequence[ModelMessage], new: Callable[[Any], Any]) -> list[ModelMessage]:
    return [
        replace(it, parts=[new(part) for part in it.parts]) if isinstance(it, ModelRequest) else it
        for it in messages
    ]


def dumped(messages: Sequence[ModelMessage], keys: Iterable[str]) -> str:
    """As JSON to keep while calls wait, with secrets masked; or raise `VoiceTooLong`."""
    known = tuple(keys) or ("",)

    def masked(value: Any) -> Any:
        if isinstance(value, str):
            for key in known:
                value = mask_secrets(value, key)
            return value
        if isinstance(value, list):
            return [masked(each) for each in value]
        if isinstance(value, dict):
            return {masked(name): masked(each) for name, each in value.items()}
        return value

    # An answer handed in beside a call that waits is asked for again.
    waiting = _replaced(messages, lambda part: replace(part, content=NOT_TAKEN)
                        if isinstance(part, ToolReturnPart) and part.tool_name == FORM
                        and part.outcome == "success" else part)  # fmt: skip
    text = json.dumps(masked(ModelMessagesTypeAdapter.dump_python(waiting, mode="json")))
    if len(text.encode()) > LARGEST:
        raise VoiceTooLong("voice.conversation_too_long")
    return text


def loaded(text: str) -> list[ModelMessage]:
    try:
        return ModelMessagesTypeAdapter.validate_json(text)
    except ValidationError as error:
        raise VoiceBroken(reason("voice.conversation_unreadable")) from error
