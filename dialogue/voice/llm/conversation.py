"""One conversation, over all the models that take part in it.

A model that fails before it called a tool leaves nothing behind: the next one begins anew. Once a
tool was called, the next model goes on with the same messages, so that no call is made twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic_ai.messages import ModelMessage
from pydantic_ai.tools import DeferredToolResults

from dialogue.voice import prompts
from dialogue.voice.base import Brief, CallOutcome, SuspendedConversation
from dialogue.voice.llm import history
from dialogue.voice.llm.toolset import BeltToolset


@dataclass(slots=True)
class ModelConversation:
    brief: Brief
    toolset: BeltToolset | None = None
    messages: list[ModelMessage] = field(default_factory=list)  # empty: nothing to go on from
    decided: DeferredToolResults | None = None  # what the waiting calls came to
    has_short_results: bool = False
    has_short_thread: bool = False

    def resume(self, kept: SuspendedConversation, outcomes: Mapping[str, CallOutcome]) -> None:
        self.messages = history.loaded(kept.messages)
        self.decided = history.results(self.messages, outcomes)

    def begin(self) -> None:
        """Another model joins: if it begins anew, with the whole thread."""
        if not self.messages:
            self.has_short_thread = False

    def keep(self, messages: list[ModelMessage]) -> None:
        """Go on from these messages, if a tool was called in them."""
        if history.count_calls(messages):
            self.messages, self.decided = messages, None

    def shorten(self) -> bool:
        """Tool results once, then the thread; False if nothing is left to shorten."""
        if self.messages and not self.has_short_results:
            self.has_short_results = True
            self.messages = history.with_short_results(self.messages)
            return True
        if self.has_short_thread:
            return False
        self.has_short_thread = True
        if self.messages:
            self.messages = history.with_prompt(self.messages, self.prompt.user)
        return True

    @property
    def prompt(self) -> prompts.Prompt:
        brief = prompts.shortened(self.brief) if self.has_short_thread else self.brief
        return prompts.build_prompt(brief, has_tools=self.toolset is not None)
