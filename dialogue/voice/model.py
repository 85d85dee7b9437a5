"""Ask models for words, one after the other until one gives them.

    first model ──> words
        └─ limited, down, misset, broken, too long ──> next model ──> … ──> one error for all

pydantic-ai runs the conversation with each: it asks for the parts in a form, and once
more if the form is wrong. Only the parts are taken; the text is built from them here.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import httpx2
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UserError

from dialogue import prompting
from dialogue.errors import (
    VoiceBroken,
    VoiceDown,
    VoiceError,
    VoiceLimited,
    VoiceMisset,
    VoiceTooLong,
)
from dialogue.voice.asking import Caller, Watched
from dialogue.voice.base import Brief, Knobs, Mind, Watch, Written, built
from dialogue.voice.failures import all_failed, misshapen
from dialogue.voice.minds import open_model, open_wire

# A refusal is not among them: shopping around until somebody writes what another declined
# to write would take that judgement from the people who look at it.
ANOTHER_MAY_DO = (VoiceLimited, VoiceDown, VoiceMisset, VoiceBroken, VoiceTooLong)
REQUESTS = UsageLimits(request_limit=2)  # one, and one more if the form was wrong


class Answer(BaseModel):
    """The parts of a reply."""

    # What else a model sends along is dropped: there is nowhere for it to go.
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    terms: str = Field(min_length=1, max_length=8_000, description="Which game are we in?")
    pointer: str = Field(
        min_length=1, max_length=8_000, description="One concrete passage or behaviour it touches."
    )
    exit: str | None = Field(
        default=None, max_length=8_000, description="How to go on or stop, if that is needed."
    )


class TitledAnswer(Answer):
    """The parts of a post."""

    title: str = Field(min_length=1, max_length=1_000, description="One line.")


class ModelVoice:
    """Safe to be used from several threads at once: nothing is kept between two writings."""

    def __init__(
        self,
        minds: Sequence[Mind],
        knobs: Knobs,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.minds, self.knobs, self.transport = tuple(minds), knobs, transport
        self.name = ", then ".join(mind.model for mind in self.minds) or "no model"

    def write(self, brief: Brief, watch: Watch) -> Written:
        # Said again each time, because filters can be reset. These warnings are for whoever
        # writes a program, such as that a model takes no temperature; nobody reads them here.
        warnings.filterwarnings("ignore", module="pydantic")
        caller = Caller(watch)
        return caller.wait_for(self._write(brief, caller))

    async def _write(self, brief: Brief, caller: Caller) -> Written:
        if not self.minds:
            raise VoiceMisset("No model is set. Choose one, or let the scripted voice write.")
        failures: list[VoiceError] = []
        for mind in self.minds:
            outcome = await self._asked(mind, brief, caller)
            if isinstance(outcome, VoiceTooLong):
                outcome = await self._asked(mind, prompting.shortened(brief), caller)
            if isinstance(outcome, Written):
                return outcome
            failures.append(outcome)
        raise all_failed(failures)

    async def _asked(self, mind: Mind, brief: Brief, caller: Caller) -> Written | VoiceError:
        """Words, or why another model may do better. Whatever else happens is raised."""
        try:
            async with open_wire(self.knobs.timeout, self.transport) as wire:
                model = Watched(open_model(mind, wire), mind, self.knobs, caller)
                return _written(await self._answer(model, brief))
        except ANOTHER_MAY_DO as error:
            return error
        except (AgentRunError, UserError) as error:
            return misshapen(error, mind)

    async def _answer(self, model: Watched, brief: Brief) -> Answer:
        prompt = prompting.written(brief)
        wanted = TitledAnswer if brief.longest_title else Answer
        agent: Agent[object, Answer] = Agent(
            model,
            name="voice",
            instructions=prompt.system,
            output_type=_form(wanted, model.mind.output_style),
            retries={"tools": 0, "output": 1},
        )
        done = await agent.run(
            prompt.user,
            model_settings={
                "temperature": self.knobs.temperature,
                "max_tokens": self.knobs.output_tokens,
                "max_retries": 0,  # tries are counted by us
            },
            usage_limits=REQUESTS,
        )
        return done.output


def _form(wanted: type[Answer], style: str) -> Any:
    if style == "native":
        return NativeOutput(wanted, name="words")
    if style == "prompted":
        return PromptedOutput(wanted, name="words")
    return ToolOutput(wanted, name="write", description="Hand in what you wrote.")


def _written(answer: Answer) -> Written:
    exit = answer.exit or ""
    title = answer.title if isinstance(answer, TitledAnswer) else ""
    return Written(
        terms=answer.terms,
        pointer=answer.pointer,
        exit=exit,
        text=built(answer.terms, answer.pointer, exit),
        title=" ".join(title.split()),
    )
