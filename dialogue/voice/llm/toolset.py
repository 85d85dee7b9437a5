"""The tools of a belt as pydantic-ai calls them.

    answer ──received──> calls with our ids ──call_tool──> belt.call ──┬─> text, or error text
                                                                       ├─> waits: deferred
                                                                       └─> the loop ends

The belt decides about every call, so nothing here validates, retries or refuses: a name that was
not offered and arguments of any shape reach it as the model wrote them. No error of a call counts
against a retry budget; only the limits of the activation end the loop.
"""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from pydantic_ai import RunContext
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from dialogue.errors import LimitReached, ToolBroken, VoiceError
from dialogue.voice.base import CallOutcome, ModelConfig, ToolBelt, UsageRecorder
from dialogue.voice.llm import history
from dialogue.voice.llm.answers import FORM
from dialogue.voice.llm.event_loop import check_may_go_on, watched
from dialogue.voice.llm.redaction import capped

NOT_OFFERED = "tool_not_offered"  # stands for every other name; the model is not told of it
MOST_AT_ONCE = 8  # calls of one answer that run at the same time
MOST_OF_ANSWER = 501  # calls that are looked at: one more than any activation may make
LONGEST_NAME = 200  # characters
LONGEST_KEPT = 20_000  # characters of arguments that the model is shown again
LONGEST_INVALID = 2_000  # characters, where they are no object or longer than that
NOT_RUN = "This call was not run, because the activation ends here."
ANYTHING = SchemaValidator(core_schema.any_schema())


@dataclass(frozen=True, slots=True)
class MadeCall:
    name: str
    arguments: str


class BeltToolset(AbstractToolset[object]):
    """The calls of one conversation, whichever models take part in it."""

    def __init__(self, belt: ToolBelt, watch: UsageRecorder) -> None:
        self.belt, self.watch = belt, watch
        self.model = ""  # which made the last calls
        self.ended: VoiceError | None = None  # why no more calls are made
        self.is_waiting = False
        self._offered: set[str] = set()
        self._asked: dict[str, MadeCall] = {}
        self._room = asyncio.Semaphore(MOST_AT_ONCE)

    @property
    def id(self) -> str:
        return "belt"

    async def get_tools(self, ctx: RunContext[object]) -> dict[str, ToolsetTool[object]]:
        """What is granted now. Called before each request."""
        offers = await sync_to_async(self.belt.offered, thread_sensitive=True)()
        told = [
            ToolDefinition(
                name=offer.name, description=offer.description, strict=False,
                parameters_json_schema=dict(offer.schema),
            )
            for offer in offers
            if offer.name not in (FORM, NOT_OFFERED)
        ]  # fmt: skip
        self._offered = {tool.name for tool in told}
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=tool, max_retries=0, args_validator=ANYTHING
            )
            for tool in (*told, ToolDefinition(name=NOT_OFFERED, strict=False))
        }

    def received(
        self, answer: ModelResponse, messages: list[ModelMessage], mind: ModelConfig
    ) -> ModelResponse:
        """The answer with our ids, and with names and arguments that any model can be shown."""
        self.model, key = mind.model, mind.key
        number = before = history.count_calls(messages)
        parts: list[Any] = []
        for part in answer.parts:
            if isinstance(part, ToolCallPart) and part.tool_name != FORM:
                number += 1
                if number - before > MOST_OF_ANSWER:
                    continue
                part = self._named(part, f"call-{number}", key)
            elif isinstance(part, ToolCallPart):
                part = replace(part, tool_call_id=f"answer-{len(messages)}-{len(parts)}")
            parts.append(part)
        return replace(answer, parts=parts)

    def _named(self, part: ToolCallPart, call_id: str, key: str) -> ToolCallPart:
        written = part.args if isinstance(part.args, str) else part.args_as_json_str()
        self._asked[call_id] = MadeCall(part.tool_name[:LONGEST_NAME], written or "{}")
        is_offered = part.tool_name in self._offered
        shown = _shown(written, key)
        if not is_offered:
            shown = {"name": capped(part.tool_name, key, LONGEST_NAME), "arguments": shown}
        name = part.tool_name if is_offered else NOT_OFFERED
        return replace(part, tool_name=name, args=shown, tool_call_id=call_id)

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[object],
        tool: ToolsetTool[object],
    ) -> str:
        call_id = str(ctx.tool_call_id)
        outcome = await self._called(self._asked[call_id], call_id)
        if outcome.is_waiting:
            self.is_waiting = True
            raise CallDeferred
        if outcome.is_fatal:
            self.ended = self.ended or ToolBroken(outcome.why or outcome.text)
        if outcome.is_error or outcome.is_fatal:
            raise history.failed(outcome)
        return history.told(outcome)

    async def _called(self, call: MadeCall, call_id: str) -> CallOutcome:
        """The outcome. The others of the same answer end before a limit ends the loop."""
        async with self._room:
            if self.ended:
                return CallOutcome(text=NOT_RUN, is_error=True)
            try:
                work = self.belt.call(call.name, call.arguments, call_id=call_id)
                return await watched(work, lambda: check_may_go_on(self.watch, self.model))
            except LimitReached as error:
                self.ended = self.ended or error
                return CallOutcome(text=NOT_RUN, is_error=True)

    def check(self) -> None:
        """Raise what ends the loop, once every call of the answer has ended."""
        if self.ended:
            raise self.ended


def _shown(written: str, key: str) -> dict[str, Any]:
    """The arguments as an object, because some providers take nothing else back."""
    if len(written) <= LONGEST_KEPT:
        try:
            # Dumped again, so that half a character is found here and not in a later request.
            given = json.loads(written or "{}")
            json.dumps(given, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            given = None
        if isinstance(given, dict):
            return given
    return {"not_valid": capped(written, key, LONGEST_INVALID)}
