"""Run a tool call, at most once.

quick  one transaction: running, the tool's own writes, done | failed. Killed before it ends,
       nothing of it happened.
slow   running, committed ─> a thread with a connection of its own ─> done | failed. Killed in
       between, out of time, broken in us, or with an answer lost, it is `unknown`: no worker
       repeats it.
       What failed before it was running did nothing.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connections, transaction
from django.utils import translation
from pydantic import BaseModel

from dialogue.activations import services as activation_services
from dialogue.agents.models.settings import ToolRisk
from dialogue.approvals.endings import NOT_DONE, kept
from dialogue.approvals.models import ToolCall, ToolCallState
from dialogue.errors import LeaseLost
from dialogue.memory.models import Trust
from dialogue.tools import results
from dialogue.tools.base import (
    FatalToolError,
    Source,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
)
from dialogue.voice.base import CallOutcome
from surfaces.errors import RuleBroken, SurfaceError, Unconfirmed
from surfaces.models import AuditEvent
from surfaces.text.reasons import reason

T = TypeVar("T")
logger = logging.getLogger(__name__)
FAILED_FOR_GOOD = "approval.failed_for_good"
MAY_HAVE_ACTED = "It may have happened: an operator finds out. Do not repeat it."
NEVER_CAUGHT = (LeaseLost, OperationalError, InterfaceError)  # nothing can be stored now


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRun:
    """A call that is about to run, with everything it needs."""

    call: ToolCall
    tool: Tool
    context: ToolContext
    arguments: BaseModel
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def begin(self, **facts: Any) -> None:
        """Call it in the transaction that decided; commit before a slow tool starts."""
        facts |= {"worker": self.context.activation.worker, "started_at": self.context.now}
        self.call.advance(ToolCallState.RUNNING, **facts)

    def run_here(self, clock: Callable[[], datetime]) -> CallOutcome:
        """Run a quick tool in this transaction; undo what it wrote if it fails."""
        began = time.monotonic()
        try:
            with transaction.atomic():
                done: ToolResult | Exception = self.tool.run(self.context, self.arguments)
        except NEVER_CAUGHT:
            raise
        except Exception as error:  # noqa: BLE001 - told to the model, and logged if it is ours
            done = error
        return self.finish(done, now=clock(), took_ms=_since(began))

    def prepare(self) -> Future[None]:
        return in_thread(
            lambda: self.tool.prepare and self.tool.prepare(self.context, self.arguments)
        )

    def start(self) -> Future[ToolResult]:
        return in_thread(partial(self.tool.run, self.context, self.arguments))

    def wait(self, clock: Callable[[], datetime]) -> CallOutcome:
        """Run a slow tool and wait for it."""
        began, future = time.monotonic(), self.start()
        try:
            done: ToolResult | Exception = future.result(self.tool.timeout)
        except Exception as error:  # noqa: BLE001 - told to the model, and logged if it is ours
            done = error
        return self.end(done, clock=clock, began=began)

    @transaction.atomic
    def end(
        self, done: ToolResult | Exception, *, clock: Callable[[], datetime], began: float
    ) -> CallOutcome:
        """Store what a slow tool returned, or raise `LeaseLost`."""
        activation = self.context.activation
        if not activation.mine().select_for_update().exists():
            raise LeaseLost(f"activation {activation.pk} was taken back")
        return self.finish(done, now=clock(), took_ms=_since(began))

    def finish(self, done: ToolResult | Exception, *, now: datetime, took_ms: int) -> CallOutcome:
        call, facts = self.call, dict[str, Any](ended_at=now, took_ms=took_ms)
        if isinstance(done, ToolResult):
            text = results.present(done, secrets=self.secrets)
            shown = kept(_sources(self.tool, done, text))
            call.advance(
                ToolCallState.DONE, why="approval.ran", result=text, shown=shown, draft=done.draft,
                **facts,
            )  # fmt: skip
            outcome = CallOutcome(text=text)
        elif self._may_have_acted(done):
            lost = results.present_words(said(self.tool, done), secrets=self.secrets)
            text = f"{lost} {MAY_HAVE_ACTED}"
            why = reason("approval.answer_lost", error=lost[:500])
            if isinstance(done, TimeoutError):
                why = reason("approval.timed_out", seconds=f"{self.tool.timeout:g}")
            call.advance(ToolCallState.UNKNOWN, why=why, result=text, took_ms=took_ms)
            outcome = CallOutcome(text=text, is_error=True, why=why)
            AuditEvent.objects.record(
                "tool_call.unknown", actor="colloquy", subject=call, why=why, tool=call.tool
            )
        else:
            words = said(self.tool, done)
            if isinstance(done, TimeoutError) and call.risk != ToolRisk.READ:
                words = f"{words} {NOT_DONE}"
            text = results.present_words(words, secrets=self.secrets)
            is_fatal = isinstance(done, FatalToolError)
            code = FAILED_FOR_GOOD if is_fatal else "approval.failed"
            why = reason(code, tool=call.tool, error=text[:500])
            shown = kept(_sources(self.tool, ToolResult(text=text), text))
            call.advance(ToolCallState.FAILED, why=why, result=text, shown=shown, **facts)
            outcome = CallOutcome(text=text, is_error=True, is_fatal=is_fatal, why=why)
        record_return(self.context.activation, call, now=now)
        return outcome

    def _may_have_acted(self, done: Exception) -> bool:
        """Whether nobody knows if it happened. What a quick tool did is undone with it."""
        is_begun = self.tool.is_slow and self.call.state == ToolCallState.RUNNING
        is_known = isinstance(done, ToolError | RuleBroken | SurfaceError)
        is_lost = isinstance(done, Unconfirmed) or not is_known
        return is_begun and is_lost and self.call.risk != ToolRisk.READ


def record_return(activation: Any, call: ToolCall, *, now: datetime) -> None:
    """Add to the transcript what the model is told, or raise `LeaseLost`."""
    facts = {"call": call.pk, "tool": call.tool, "state": str(call.state)}
    activation_services.record_step(
        activation, "returned", call.result, why=call.why, now=now, facts=facts, item=call.item,
        took_ms=call.took_ms,
    )  # fmt: skip


def told_again(call: ToolCall) -> CallOutcome:
    """The outcome of a call that ended, from its row."""
    return CallOutcome(
        text=call.result, is_error=call.state != ToolCallState.DONE,
        is_fatal=call.why.code == FAILED_FOR_GOOD, why=call.why,
    )  # fmt: skip


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Begin work in a thread with a connection of its own. Nobody need wait for its end."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - belongs to whoever waits
            future.set_exception(error)
        finally:
            connections.close_all()  # those of this thread

    Thread(target=run, name="tool", daemon=True).start()
    return future


def said(tool: Tool, error: Exception) -> str:
    """The error for the model."""
    if isinstance(error, TimeoutError):
        return f"{tool.name} took longer than {tool.timeout:g} seconds and was abandoned."
    if isinstance(error, ToolError):
        return str(error)
    if isinstance(error, RuleBroken | SurfaceError):
        with translation.override("en"):
            return str(error)
    logger.error("a tool failed in us", exc_info=error, extra={"tool": tool.name})
    return f"Internal error in {tool.name} ({type(error).__name__}). Go on without it."


def _sources(tool: Tool, done: ToolResult, text: str) -> tuple[Source, ...]:
    """Whose words are in it. What a tool that asks others does not say is a stranger's."""
    if done.sources or tool.risk in {ToolRisk.WRITE, ToolRisk.PUBLISH}:
        return done.sources
    return (Source(kind="tool", id=tool.name, trust=Trust.STRANGER, text=text),)


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
