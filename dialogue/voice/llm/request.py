"""Make one request to a model, recorded by a `UsageRecorder`.

    asking ──> request ──┬─> answered
       │                 └─> failed: refused, too long, broken off, or stopped
       └─> no request: out of budget, or the lease is lost

pydantic-ai runs the conversation and may send two requests. Here each one is reserved before
and settled after, has a timeout, and is cancelled when the worker stops.
"""

import asyncio
import threading
import time
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from dialogue.budgets.rules import estimated_tokens
from dialogue.errors import LeaseLost, VoiceDown, VoiceError, VoiceStopping
from dialogue.voice.base import GenerationSettings, ModelConfig, UsageRecorder
from dialogue.voice.llm.errors import may_have_cost, unanswered, unusable
from dialogue.voice.llm.redaction import capped
from surfaces.text.reasons import reason

LOOKS_EVERY = 0.1  # seconds between two checks for a stop
LONGEST_GOODBYE = 1.0  # seconds for a cancelled request to close its connection
MOST_WORDS = 4_000  # characters of an answer that are recorded
MOST_SHOWN = 40_000  # characters of a prompt that are recorded
MOST_TOKENS = 10_000_000  # maximum tokens of one request, whatever a server reports
MOST_MONEY = 10_000  # maximum US dollars, likewise
FORM_TOKENS = 400  # about the tokens of the output schema, which is sent along

T = TypeVar("T")


class LookupExecutor(ThreadPoolExecutor):
    """Executor of DNS lookups that closing the loop does not wait for."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)


def run_here(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in an event loop of its own, and its hooks in the calling thread.

    A database connection and its transaction belong to one thread. If this thread is interrupted,
    as by Ctrl-C, the work is cancelled; otherwise its hooks would block the exit of the process.
    """
    left = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def run() -> T:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(LookupExecutor())
        running.append((loop, asyncio.current_task()))
        if left.is_set():
            work.close()
            raise asyncio.CancelledError
        return await work

    try:
        return async_to_sync(run, force_new_loop=True)()
    finally:
        left.set()
        for loop, task in running:
            with suppress(RuntimeError):  # the loop is closed: the work is done
                if task:
                    loop.call_soon_threadsafe(task.cancel)


class RecordedModel(WrapperModel):
    """A model whose requests are reserved, limited in time and recorded."""

    def __init__(
        self, model: Model, mind: ModelConfig, knobs: GenerationSettings, watch: UsageRecorder
    ) -> None:
        super().__init__(model)
        self.mind, self.knobs, self.watch = mind, knobs, watch
        self.asked = 0

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._must_go_on()
        self.asked += 1
        dumped = ModelMessagesTypeAdapter.dump_json(messages).decode()
        tokens_in = estimated_tokens(dumped) + FORM_TOKENS
        ticket = await sync_to_async(self.watch.asking, thread_sensitive=True)(
            self.mind.model,
            tokens_in=tokens_in,
            tokens_out=self.knobs.output_tokens,
            facts=self._facts(messages),
        )
        began = time.monotonic()
        call = self._call(messages, model_settings, model_request_parameters)
        outcome, noted = await self._outcome(call, tokens_in)
        took_ms = round((time.monotonic() - began) * 1000)
        if isinstance(outcome, VoiceError):
            failed = sync_to_async(self.watch.failed, thread_sensitive=True)
            await failed(ticket, outcome.reason, took_ms=took_ms, **noted)
            raise outcome
        answered = sync_to_async(self.watch.answered, thread_sensitive=True)
        await answered(ticket, took_ms=took_ms, **noted)
        if problem := unusable(outcome, words_of(outcome), self.mind):
            raise problem
        return outcome

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

    async def _in_time(self, call: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(call)
        until = time.monotonic() + self.knobs.timeout
        try:
            while not task.done():
                self._must_go_on()
                left = until - time.monotonic()
                if left <= 0:
                    model, timeout = self.mind.model, f"{self.knobs.timeout:g}"
                    raise VoiceDown(reason("voice.too_slow", model=model, timeout=timeout))
                await asyncio.wait({task}, timeout=min(LOOKS_EVERY, left))
            return task.result()
        finally:
            # Cancel it, wait until its connection is closed, and consume its exception.
            task.cancel()
            await asyncio.wait({task}, timeout=LONGEST_GOODBYE)
            if task.done() and not task.cancelled():
                task.exception()

    def _must_go_on(self) -> None:
        if self.watch.is_ending():
            raise VoiceStopping(reason("voice.told_to_stop", model=self.mind.model))

    def _facts(self, messages: list[ModelMessage]) -> Mapping[str, Any]:
        """Facts of the request: the whole prompt first, then only additions."""
        last = messages[-1]
        shown = "\n\n".join(str(getattr(part, "content", "")) for part in last.parts)
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


def words_of(answer: ModelResponse) -> str:
    """The text of the model, or its refusal."""
    words = []
    for part in answer.parts:
        if isinstance(part, TextPart):
            words.append(part.content)
        elif isinstance(part, ToolCallPart):
            words.append(part.args if isinstance(part.args, str) else part.args_as_json_str())
    if refusal := (answer.provider_details or {}).get("refusal"):
        words.append(str(refusal))
    return "\n".join(words)


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
