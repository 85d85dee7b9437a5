"""The voice that uses language models, in order, until one succeeds.

    first model ──> answer
        └─ limited, down, misconfigured, broken, too long ──> next model ──> … ──> one error for all

pydantic-ai runs the conversation: it requests the parts in a schema, and once more if the schema
is violated; with tools, until the answer is handed in, a call waits for an operator, or a limit is
reached. Only the parts are used; the text is built from them here.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx2
from pydantic_ai import Agent, DeferredToolRequests, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UserError

from dialogue import errors
from dialogue.errors import ToolBroken, VoiceError, VoiceMisconfigured, VoiceTooLong
from dialogue.voice.base import (
    Brief,
    Ending,
    GenerationSettings,
    ModelConfig,
    SuspendedConversation,
    ToolBelt,
    UsageRecorder,
)
from dialogue.voice.llm import answers, history
from dialogue.voice.llm.conversation import ModelConversation
from dialogue.voice.llm.errors import all_failed, misshapen
from dialogue.voice.llm.event_loop import run_here
from dialogue.voice.llm.providers import open_model, open_wire
from dialogue.voice.llm.request import RecordedModel
from dialogue.voice.llm.toolset import BeltToolset

# Not for a refusal: whether to write what a model declined is for operators to decide.
ANOTHER_MAY_DO = (
    errors.VoiceLimited, errors.VoiceDown, VoiceMisconfigured, errors.VoiceBroken, VoiceTooLong,
)  # fmt: skip
# `RecordedModel` ends a conversation; no budget of pydantic-ai may do so before.
NO_LIMITS = UsageLimits(request_limit=None)
RETRIES = 1_000_000


class ModelVoice:
    """Thread-safe: no state is kept between two calls."""

    def __init__(
        self,
        minds: Sequence[ModelConfig],
        knobs: GenerationSettings,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.minds, self.knobs, self.transport = tuple(minds), knobs, transport
        self.name = ", then ".join(mind.model for mind in self.minds) or "no model"

    def write(
        self,
        brief: Brief,
        watch: UsageRecorder,
        *,
        tools: ToolBelt | None = None,
        suspended: SuspendedConversation | None = None,
    ) -> Ending:
        if not self.minds:  # before an approved call runs
            raise VoiceMisconfigured("voice.no_model")
        # Said again each time, because filters can be reset. These warnings are for whoever
        # writes a program, such as that a model takes no temperature; nobody reads them here.
        warnings.filterwarnings("ignore", module="pydantic")
        talk = ModelConversation(brief)
        if suspended:
            outcomes = tools.decided() if tools else {}
            for outcome in outcomes.values():
                if outcome.is_waiting:
                    return suspended
                if outcome.is_fatal:
                    raise ToolBroken(outcome.why or outcome.text)
            talk.resume(suspended, outcomes)
        return run_here(self._write(talk, watch, tools, suspended.model if suspended else ""))

    async def _write(
        self, talk: ModelConversation, watch: UsageRecorder, tools: ToolBelt | None, first: str
    ) -> Ending:
        talk.toolset = BeltToolset(tools, watch) if tools else None
        failures: list[VoiceError] = []
        # The model that began goes on, the others after it.
        for mind in sorted(self.minds, key=lambda mind: mind.model != first):
            talk.begin()
            outcome = await self._asked(mind, talk, watch)
            while isinstance(outcome, VoiceTooLong) and talk.shorten():
                outcome = await self._asked(mind, talk, watch)
            if isinstance(outcome, SuspendedConversation):
                # Not tried again where it is too long to be kept: its calls were made.
                keys = [other.key for other in self.minds]
                return replace(outcome, messages=history.dumped(talk.messages, keys))
            if not isinstance(outcome, VoiceError):
                return outcome
            failures.append(outcome)
        raise all_failed(failures)

    async def _asked(
        self, mind: ModelConfig, talk: ModelConversation, watch: UsageRecorder
    ) -> Ending | VoiceError:
        """The ending, or an error after which the next model is used. Other errors are raised."""
        try:
            async with open_wire(self.knobs.timeout, self.transport) as wire:
                model = RecordedModel(open_model(mind, wire), mind, self.knobs, watch, talk)
                return await self._ending(model, talk)
        except answers.PlainAnswer as plain:
            return plain.ending
        except ANOTHER_MAY_DO as error:
            return error
        except (AgentRunError, UserError) as error:
            return misshapen(error, mind)

    async def _ending(self, model: RecordedModel, talk: ModelConversation) -> Ending:
        mind, prompt, toolset = model.mind, talk.prompt, talk.toolset
        output = answers.output_of(answers.form_of(talk.brief), mind.output_style)
        agent: Agent[object, Any] = Agent(
            model,
            name="voice",
            instructions=prompt.system,
            output_type=[output, DeferredToolRequests] if toolset else output,
            toolsets=[toolset] if toolset else None,
            retries={"tools": 0, "output": RETRIES},
        )
        done = await agent.run(
            None if talk.messages else prompt.user,
            message_history=talk.messages or None,
            deferred_tool_results=talk.decided,
            model_settings={
                "temperature": self.knobs.temperature,
                "max_tokens": self.knobs.output_tokens,
                "max_retries": 0,  # we count attempts
            },
            usage_limits=NO_LIMITS,
        )
        if toolset:
            toolset.check()
        if toolset and toolset.is_waiting:
            talk.messages = done.all_messages()
            return SuspendedConversation(model=mind.model, messages="")
        return answers.ending_of(done.output)
