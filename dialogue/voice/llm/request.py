"""Make one request to a model, recorded by a `UsageRecorder`.

    asking ──> request ──┬─> answered
       │                 └─> failed: refused, too long, broken off, or stopped
       └─> no request: out of budget, or the lease is lost

pydantic-ai runs the conversation. Here each request is counted and reserved before and settled
after, has a timeout, and is cancelled when the worker stops or the time is used. This is also where
a loop ends: before the next request, when every call of the last answer has its result.
"""

import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from asgiref.sync import sync_to_async
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from dialogue.budgets.rules import estimated_tokens
from dialogue.errors import LeaseLost, VoiceBroken, VoiceDown, VoiceError
from dialogue.voice.base import GenerationSettings, ModelConfig, NothingToSay, UsageRecorder
from dialogue.voice.llm import history
from dialogue.voice.llm.answers import FORM, PlainAnswer, is_nothing, plain_ending
from dialogue.voice.llm.conversation import ModelConversation
from dialogue.voice.llm.errors import may_have_cost, unanswered, unusable
from dialogue.voice.llm.event_loop import check_may_go_on, watched
from dialogue.voice.llm.redaction import capped
from dialogue.voice.llm.toolset import NOT_OFFERED
from surfaces.text.reasons import reason

MOST_WORDS = 4_000  # characters of an answer that are recorded
MOST_SHOWN = 40_000  # characters of a prompt that are recorded
MOST_ADDED = 4_000  # characters of a tool result that are recorded with the next request
MOST_MISSES = 1  # answers of one model in another form than asked for
MOST_TOKENS = 10_000_000  # maximum tokens of one request, whatever a server reports
MOST_MONEY = 10_000  # maximum US dollars, likewise
FORM_TOKENS = 400  # about the tokens of the output schema, which is sent along


class RecordedModel(WrapperModel):
    """A model whose requests are reserved, limited in time and recorded."""

    def __init__(
        self,
        model: Model,
        mind: ModelConfig,
        knobs: GenerationSettings,
        watch: UsageRecorder,
        talk: ModelConversation,
    ) -> None:
        super().__init__(model)
        self.mind, self.knobs, self.watch, self.talk = mind, knobs, watch, talk
        self.asked = 0
        self.misses = 0  # answers in another form than asked for
        self.last: ModelResponse | None = None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._may_ask(messages)
        told = _without_stand_in(model_request_parameters)
        tokens_in = _estimate(messages, told)
        ticket = await sync_to_async(self.watch.asking, thread_sensitive=True)(
            self.mind.model,
            tokens_in=tokens_in,
            tokens_out=self.knobs.output_tokens,
            facts=self._facts(messages),
        )
        began = time.monotonic()
        call = self._call(messages, model_settings, told)
        outcome, noted = await self._outcome(call, tokens_in)
        took_ms = round((time.monotonic() - began) * 1000)
        if isinstance(outcome, VoiceError):
            failed = sync_to_async(self.watch.failed, thread_sensitive=True)
            await failed(ticket, outcome.reason, took_ms=took_ms, **noted)
            raise outcome
        answered = sync_to_async(self.watch.answered, thread_sensitive=True)
        await answered(ticket, took_ms=took_ms, **noted)
        return self._received(outcome, messages)

    def _received(self, answer: ModelResponse, messages: list[ModelMessage]) -> ModelResponse:
        toolset = self.talk.toolset
        if problem := unusable(answer, words_of(answer, only=FORM if toolset else ""), self.mind):
            raise problem
        if is_nothing(text := history.plain_text(answer), self.talk.brief):
            raise PlainAnswer(NothingToSay(text.strip()))
        self.last = toolset.received(answer, messages, self.mind) if toolset else answer
        return self.last

    def _may_ask(self, messages: list[ModelMessage]) -> None:
        """Raise what ends the conversation here."""
        self.talk.keep(list(messages))
        if self.talk.toolset:
            self.talk.toolset.check()
        check_may_go_on(self.watch, self.mind.model)
        self._count_misses()
        self.asked += 1

    def _count_misses(self) -> None:
        """An answer after which another request follows called a tool, or had the wrong form."""
        last, is_free = self.last, self.talk.toolset is not None
        if last is None or ((calls := last.tool_calls) and calls == history.calls_of(last)):
            return
        self.misses += 1
        if self.misses > MOST_MISSES:
            plain = plain_ending(history.plain_text(last), self.talk.brief) if is_free else None
            if plain:
                raise PlainAnswer(plain)
            raise VoiceBroken(reason("voice.wrong_form", model=self.mind.model))

    async def _call(self, *request: Any) -> ModelResponse:
        if not self.mind.streams:
            return await self.wrapped.request(*request)
        async with self.wrapped.request_stream(*request) as answer:
            async for _ in answer:
                pass
        return answer.get()

    async def _outcome(
        self, call: Coroutine[Any, Any, ModelResponse], tokens_in: int
    ) -> tuple[ModelResponse | VoiceError, dict[str, Any]]:
        """The answer or the error, and what to record.

        The error is returned, not raised, so that it chains no exception with a key.
        """
        try:
            answer = await self._in_time(call)
            return answer, self._noted(answer, tokens_in)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a stranger's answer broke is one failed try
            return unanswered(error, self.mind), {"may_have_cost": may_have_cost(error)}

    async def _in_time(self, call: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
        until = time.monotonic() + self.knobs.timeout

        def check() -> None:
            check_may_go_on(self.watch, self.mind.model)
            if time.monotonic() >= until:
                model, timeout = self.mind.model, f"{self.knobs.timeout:g}"
                raise VoiceDown(reason("voice.too_slow", model=model, timeout=timeout))

        return await watched(call, check)

    def _facts(self, messages: list[ModelMessage]) -> Mapping[str, Any]:
        """Facts of the request: the whole prompt first, then only additions."""
        last = messages[-1]
        shown = "\n\n".join(_added(part) for part in last.parts)
        system = (getattr(last, "instructions", None) or "") if self.asked == 1 else ""
        return {
            "request": self.asked,
            "style": self.mind.output_style,
            "streams": self.mind.streams,
            "system": capped(system, self.mind.key, MOST_SHOWN),
            "shown": capped(shown, self.mind.key, MOST_SHOWN),
        }

    def _noted(self, answer: ModelResponse, tokens_in: int) -> dict[str, Any]:
        words = words_of(answer)
        usage, is_counted = answer.usage, _is_counted(answer)
        facts = {"request": self.asked, "finish": answer.finish_reason, "counted": is_counted}
        return {
            "tokens_in": usage.input_tokens if is_counted else tokens_in,
            "tokens_out": usage.output_tokens if is_counted else estimated_tokens(words),
            "cost": _cost(answer) if is_counted else None,
            "words": capped(words, self.mind.key, MOST_WORDS),
            "facts": facts | {"model": capped(answer.model_name or "", self.mind.key, 200)},
        }


def words_of(answer: ModelResponse, *, only: str = "") -> str:
    """The text of the model and the tools it calls, or its refusal; `only`: of that tool."""
    words = []
    for part in answer.parts:
        if isinstance(part, TextPart):
            words.append(part.content)
        elif isinstance(part, ToolCallPart) and (not only or part.tool_name == only):
            written = part.args if isinstance(part.args, str) else part.args_as_json_str()
            words.append(written if part.tool_name == FORM else f"{part.tool_name} {written}")
    if refusal := (answer.provider_details or {}).get("refusal"):
        words.append(str(refusal))
    return "\n".join(words)


def _added(part: Any) -> str:
    """A part of a request, as it is recorded."""
    content = str(getattr(part, "content", ""))
    if isinstance(part, ToolReturnPart) and part.tool_name != FORM:
        return f"{part.tool_call_id} {part.tool_name}: {content[:MOST_ADDED]}"
    return content


def _without_stand_in(parameters: ModelRequestParameters) -> ModelRequestParameters:
    tools = [tool for tool in parameters.function_tools if tool.name != NOT_OFFERED]
    return replace(parameters, function_tools=tools)


def _estimate(messages: list[ModelMessage], parameters: ModelRequestParameters) -> int:
    """Tokens of the request: messages, form and tools."""
    dumped = ModelMessagesTypeAdapter.dump_json(messages).decode()
    tools = (f"{it.description}{it.parameters_json_schema}" for it in parameters.function_tools)
    return estimated_tokens(dumped) + estimated_tokens("".join(tools)) + FORM_TOKENS


def _is_counted(answer: ModelResponse) -> bool:
    """Whether the provider reported a plausible number of tokens."""
    # A stream may report any number, fractions included.
    counts: tuple[float, float] = (answer.usage.input_tokens, answer.usage.output_tokens)
    believable = (isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in counts)
    return answer.usage.has_values() and all(believable)


def _cost(answer: ModelResponse) -> Decimal | None:
    """Cost in US dollars from the price list or the gateway; None if unknown."""
    try:
        cost = answer.cost().total_price if answer.usage.cost is None else answer.usage.cost
    except (LookupError, ValueError, AssertionError):
        return None
    return cost if 0 <= cost <= MOST_MONEY else None
