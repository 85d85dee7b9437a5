"""The forms in which a model hands in its answer, and what an answer ends the conversation with.

The purpose chooses the form: a reply or comment has parts, a post also a title, an exploration the
number of a post. An exploration and a task may end with nothing to say.
"""

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput

from dialogue.voice.base import Brief, NothingToSay, Reply, built
from dialogue.voice.prompts import NOTHING

FORM = "write"  # the name of the form where it is handed in as a tool call
LONGEST_PLAIN = 8_000  # characters of an answer without the form
MAY_BE_SILENT = {"explore", "task"}


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


class OptionalAnswer(BaseModel):
    """The parts of something to say, or why there is nothing."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)
    needed: ClassVar[tuple[str, ...]] = ("terms", "pointer")

    nothing: str | None = Field(
        default=None,
        max_length=8_000,
        description="Only if you write nothing: why, or what you did.",
    )
    terms: str | None = Field(default=None, max_length=8_000, description="Which game are we in?")
    pointer: str | None = Field(
        default=None, max_length=8_000, description="One concrete passage or behaviour it touches."
    )
    exit: str | None = Field(
        default=None, max_length=8_000, description="How to go on or stop, if that is needed."
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not (self.nothing or self.is_complete):
            needed = ", ".join(self.needed)
            raise ValueError(f"give all of {needed}, or say in `nothing` why you do not write")
        return self

    @property
    def is_complete(self) -> bool:
        return all(getattr(self, name) for name in self.needed)


class ExplorationAnswer(OptionalAnswer):
    needed = ("post", "terms", "pointer")

    post: int | None = Field(default=None, description="The number of the post that you answer.")


class TaskAnswer(OptionalAnswer):
    needed = ("title", "terms", "pointer")

    title: str | None = Field(default=None, max_length=1_000, description="One line.")


Answer = ModelAnswer | OptionalAnswer


class PlainAnswer(Exception):
    """The answer came without the form, and is taken as it is."""

    def __init__(self, ending: Reply | NothingToSay) -> None:
        super().__init__("answered without the form")
        self.ending = ending


def form_of(brief: Brief) -> type[Answer]:
    if brief.purpose == "explore":
        number = Field(
            default=None, ge=1, le=max(len(brief.candidates), 1),
            description="The number of the post that you answer.",
        )  # fmt: skip
        return create_model("Answer", __base__=ExplorationAnswer, post=(int | None, number))
    if brief.purpose == "task":
        return TaskAnswer
    return TitledAnswer if brief.longest_title else ModelAnswer


def output_of(form: type[Answer], style: str) -> Any:
    """How the model is asked for the form."""
    if style == "native":
        return NativeOutput(form, name="words")
    if style == "prompted":
        return PromptedOutput(form, name="words")
    return ToolOutput(form, name=FORM, description="Hand in what you wrote.")


def ending_of(answer: Answer) -> Reply | NothingToSay:
    terms, pointer, exit = (answer.terms or "", answer.pointer or "", answer.exit or "")
    if isinstance(answer, OptionalAnswer) and not answer.is_complete:
        # Whatever else it wrote is kept: it may be what it found, or half of an answer.
        return NothingToSay(built(answer.nothing or "", built(terms, pointer, exit), ""))
    title = " ".join((getattr(answer, "title", "") or "").split())
    target = getattr(answer, "post", None) or 0
    text = built(terms, pointer, exit)
    return Reply(
        terms=terms, pointer=pointer, exit=exit, text=text, title=title, target=target
    )  # fmt: skip


def is_nothing(text: str, brief: Brief) -> bool:
    """Whether a plain text is the sentence that says there is nothing to say."""
    return brief.purpose in MAY_BE_SILENT and _core(text) == _core(NOTHING)


def plain_ending(text: str, brief: Brief) -> Reply | NothingToSay | None:
    """What a plain text stands for, where the form was asked for twice.

    Nothing that an agent says is dropped: a reply becomes a pointer without terms, which the checks
    refuse and one rewrite mends; the answer to a task is its report. A text that does not say which
    post it answers, or has no title, stands for nothing.
    """
    text = text.strip()[:LONGEST_PLAIN]
    if not text or text.startswith(("{", "[", "```")):  # the form, but not as it should be
        return None
    if brief.purpose == "task":
        return NothingToSay(text)
    is_reply = brief.purpose in ("reply", "comment")
    return Reply(terms="", pointer=text, text=text) if is_reply else None


def _core(text: str) -> str:
    return " ".join(text.split()).strip("\"'“”*_. ").casefold()
