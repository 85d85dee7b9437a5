"""The voice that uses language models, in order, until one succeeds.

    first model ──> text
        └─ limited, down, misconfigured, broken, too long ──> next model ──> … ──> one error for all

pydantic-ai runs the conversation: it requests the parts in a schema, and once more if the
schema is violated. Only the parts are used; the text is built from them here.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import httpx2
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UserError

from dialogue import errors
from dialogue.errors import VoiceError, VoiceMisconfigured, VoiceTooLong
from dialogue.voice import prompts
from dialogue.voice.base import Brief, GenerationSettings, ModelConfig, Reply, UsageRecorder, built
from dialogue.voice.llm.errors import all_failed, misshapen
from dialogue.voice.llm.providers import open_model, open_wire
from dialogue.voice.llm.request import RecordedModel, run_here

# Not for a refusal: whether to write what a model declined is for operators to decide.
ANOTHER_MAY_DO = (
    errors.VoiceLimited, errors.VoiceDown, VoiceMisconfigured, errors.VoiceBroken, VoiceTooLong,
)  # fmt: skip
REQUESTS = UsageLimits(request_limit=2)  # one, and one more if the schema was violated


class ModelAnswer(BaseModel):
    """The parts of a reply."""

    # Unknown fields are dropped.
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)

    terms: str = Field(min_length=1, max_length=8_000, description="Which game are we in?")
    pointer: str = Field(
        min_length=1, max_length=8_000, description="One concrete passage or behaviour it touches."
    )
    exit: str | None = Field(
        default=None, max_length=8_000, description="How to go on or stop, if that is needed."
    )


class TitledAnswer(ModelAnswer):
    """The parts of a post."""

    title: str = Field(min_length=1, max_length=1_000, description="One line.")


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

    def write(self, brief: Brief, watch: UsageRecorder) -> Reply:
        # Said again each time, because filters can be reset. These warnings are for whoever
        # writes a program, such as that a model takes no temperature; nobody reads them here.
        warnings.filterwarnings("ignore", module="pydantic")
        return run_here(self._write(brief, watch))

    async def _write(self, brief: Brief, watch: UsageRecorder) -> Reply:
        if not self.minds:
            raise VoiceMisconfigured("voice.no_model")
        failures: list[VoiceError] = []
        for mind in self.minds:
            outcome = await self._asked(mind, brief, watch)
            if isinstance(outcome, VoiceTooLong):
                outcome = await self._asked(mind, prompts.shortened(brief), watch)
            if isinstance(outcome, Reply):
                return outcome
            failures.append(outcome)
        raise all_failed(failures)

    async def _asked(
        self, mind: ModelConfig, brief: Brief, watch: UsageRecorder
    ) -> Reply | VoiceError:
        """The answer, or an error after which the next model is used. Other errors are raised."""
        try:
            async with open_wire(self.knobs.timeout, self.transport) as wire:
                model = RecordedModel(open_model(mind, wire), mind, self.knobs, watch)
                answer = await self._answer(model, brief)
            terms, pointer, exit = answer.terms, answer.pointer, answer.exit or ""
            title = " ".join(getattr(answer, "title", "").split())
            text = built(terms, pointer, exit)
            return Reply(terms=terms, pointer=pointer, exit=exit, text=text, title=title)
        except ANOTHER_MAY_DO as error:
            return error
        except (AgentRunError, UserError) as error:
            return misshapen(error, mind)

    async def _answer(self, model: RecordedModel, brief: Brief) -> ModelAnswer:
        prompt = prompts.build_prompt(brief)
        wanted = TitledAnswer if brief.longest_title else ModelAnswer
        agent: Agent[object, ModelAnswer] = Agent(
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
                "max_retries": 0,  # we count attempts
            },
            usage_limits=REQUESTS,
        )
        return done.output


def _form(wanted: type[ModelAnswer], style: str) -> Any:
    if style == "native":
        return NativeOutput(wanted, name="words")
    if style == "prompted":
        return PromptedOutput(wanted, name="words")
    return ToolOutput(wanted, name="write", description="Hand in what you wrote.")
