"""Make one request to a model, with the watch looking on.

    asking ──> request ──┬─> answered
       │                 └─> failed: refused, too long, broken off, or we were told to stop
       └─> nothing is asked: no budget, or overtaken

pydantic-ai runs the conversation; it may ask twice. Here every request is announced
before and settled after, bounded in time, and given up as soon as the worker must end.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from decimal import Decimal
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

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

from dialogue.budget import estimated_tokens
from dialogue.errors import Overtaken, VoiceDown, VoiceEnding, VoiceError
from dialogue.voice.base import Knobs, Mind, Watch
from dialogue.voice.failures import may_have_cost, unanswered, unusable
from dialogue.voice.masking import capped

LOOKS_EVERY = 0.1  # seconds between two looks whether we must end
LONGEST_GOODBYE = 1.0  # seconds for a request that is given up to close its connection
MOST_WORDS = 4_000  # characters of an answer that are noted
MOST_SHOWN = 40_000  # characters of a prompt that are noted
MOST_TOKENS = 10_000_000  # that one request can take, whatever a server says
MOST_MONEY = 10_000  # US dollars, likewise
FORM_TOKENS = 400  # about what the form of the answer takes, which is sent along

T = TypeVar("T")


class Caller:
    """The thread that asked for words, as long as it waits for them.

    The conversation runs in a thread of its own; what is to be noted is noted here, because
    a database connection belongs to one thread. It waits no more if it was interrupted, as by
    Ctrl-C: then nothing can be noted, and whoever waited for that would wait for ever.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch, self.left = watch, threading.Event()
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` beside, and its hooks here, until it is done."""
        done: Future[T] = Future()

        async def tell() -> None:
            try:
                done.set_result(await work)
            except BaseException as error:  # noqa: BLE001 - kept back, its waiter waits for ever
                done.set_exception(error)
            # Said already here: a loop does not end before the last name is looked up.
            self._calls.put(None)

        def live() -> None:
            try:
                asyncio.run(tell())
            except Exception as error:  # noqa: BLE001 - no loop could be run: raised again there
                if not done.done():
                    done.set_exception(error)
            finally:
                self._calls.put(None)

        threading.Thread(target=live, name="conversation", daemon=True).start()
        try:
            while call := self._calls.get():
                call()
        finally:
            self.left.set()
        return done.result()

    def must_wait(self) -> None:
        if self.left.is_set():
            raise asyncio.CancelledError

    async def run(self, hook: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Run `hook` there: it writes to a database that belongs to that thread."""
        done: Future[T] = Future()
        self._calls.put(partial(_settle, done, partial(hook, *args, **kwargs)))
        noted = asyncio.wrap_future(done)
        while not noted.done():
            self.must_wait()
            await asyncio.wait({noted}, timeout=LOOKS_EVERY)
        return noted.result()


def _settle(done: Future[T], hook: Callable[[], T]) -> None:
    try:
        done.set_result(hook())
    except Exception as error:  # noqa: BLE001 - raised again where it was asked for
        done.set_exception(error)


class Watched(WrapperModel):
    """A model whose every request is announced, bounded and noted."""

    def __init__(self, model: Model, mind: Mind, knobs: Knobs, caller: Caller) -> None:
        super().__init__(model)
        self.mind, self.knobs, self.caller, self.watch = mind, knobs, caller, caller.watch
        self.asked = 0

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._must_go_on()
        self.asked += 1
        tokens_in = _estimated(messages)
        ticket = await self.caller.run(
            self.watch.asking,
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
            await self.caller.run(self.watch.failed, ticket, str(outcome), took_ms=took_ms, **noted)
            raise outcome
        await self.caller.run(self.watch.answered, ticket, took_ms=took_ms, **noted)
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
        """The answer, or what went wrong; and what the watch is told of it.

        The error is returned, not raised: so it carries no other along that may hold a key.
        """
        try:
            answer = await self._in_time(call)
            return answer, self._noted(answer, tokens_in)
        except Overtaken:
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
                    raise VoiceDown(f"{self.mind.model} took longer than {self.knobs.timeout:g} s.")
                await asyncio.wait({task}, timeout=min(LOOKS_EVERY, left))
            return task.result()
        finally:
            await _given_up(task)

    def _must_go_on(self) -> None:
        self.caller.must_wait()
        if self.watch.is_ending():
            raise VoiceEnding(f"We were told to stop while {self.mind.model} was asked.")

    def _facts(self, messages: list[ModelMessage]) -> Mapping[str, Any]:
        """What is asked: the first time all of it, then only what is said on top."""
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


async def _given_up(task: asyncio.Future[Any]) -> None:
    """End it, wait for it to close its connection, and leave nothing unheard behind."""
    task.cancel()
    await asyncio.wait({task}, timeout=LONGEST_GOODBYE)
    if task.done() and not task.cancelled():
        task.exception()


def _estimated(messages: list[ModelMessage]) -> int:
    return estimated_tokens(ModelMessagesTypeAdapter.dump_json(messages).decode()) + FORM_TOKENS


def words_of(answer: ModelResponse) -> str:
    """What the model wrote, as it wrote it; a refusal, where it gave one."""
    parts = [
        part.content if isinstance(part, TextPart) else _arguments(part)
        for part in answer.parts
        if isinstance(part, TextPart | ToolCallPart)
    ]
    refusal = (answer.provider_details or {}).get("refusal")
    return "\n".join([*parts, *([str(refusal)] if refusal else [])])


def _arguments(call: ToolCallPart) -> str:
    return call.args if isinstance(call.args, str) else call.args_as_json_str()


def _is_counted(answer: ModelResponse) -> bool:
    """Whether the provider said how many tokens it took, and a number one can believe."""
    # A stream brings whatever the server wrote, fractions too.
    counts: tuple[float, float] = (answer.usage.input_tokens, answer.usage.output_tokens)
    believable = (isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in counts)
    return answer.usage.has_values() and all(believable)


def _cost(answer: ModelResponse) -> Decimal | None:
    """In US dollars, as the price list or the gateway has it; None where nobody knows."""
    try:
        cost = answer.cost().total_price if answer.usage.cost is None else answer.usage.cost
    except (LookupError, ValueError, AssertionError):
        return None
    return cost if 0 <= cost <= MOST_MONEY else None
