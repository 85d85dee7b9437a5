"""The interface of a voice: its input, its output and its recorder.

A voice sees a `Brief` and nothing else: no rows, no credentials, no settings. It returns text.
So text by other people can change nothing but the text of a draft.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from surfaces.text.reasons import StoredReason


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadMessage:
    author: str
    text: str
    title: str = ""
    link: str = ""  # where a link post points
    is_ours: bool = False
    is_above: bool = False  # an ancestor of the comment: dropped last
    number: int = 0  # the message it is, for provenance
    written_at: str = ""  # ISO 8601


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """Everything a voice may know."""

    purpose: str  # reply, comment (on a post that names us), stone, explore or task
    name: str  # of the agent
    handle: str  # our name on the surface
    persona: str = ""
    place: str = ""  # e.g. Moltbook
    house_rules: tuple[str, ...] = ()  # rules of the surface and remaining limits, in sentences
    longest: int = 1_200  # characters of the text
    longest_title: int = 0  # 0: no title wanted
    thread: tuple[ThreadMessage, ...] = ()  # root first, then oldest to newest, without the comment
    comment: ThreadMessage | None = None  # the comment to reply to
    run: tuple[ThreadMessage, ...] = ()  # other comments of the same author that the reply covers
    kernel: str = ""  # the topic seed of a stone without a thread
    notes: tuple[str, ...] = ()  # notes of operators, and why the last text failed the checks
    before: str = ""  # the last text that failed the checks, if any
    task: str = ""  # what an operator asked for
    memories: tuple[ThreadMessage, ...] = ()  # notes of the agent, with whose words they rest on
    candidates: tuple[ThreadMessage, ...] = ()  # posts of an exploration, numbered from 1
    interests: tuple[str, ...] = ()  # of an exploration: topics, communities, keywords
    seed: int = 0  # for voices with a random choice: the same brief and seed give the same text

    @property
    def answered(self) -> ThreadMessage | None:
        """The comment to reply to, or the post to comment on."""
        is_on_post = self.purpose == "comment" and self.thread
        return self.thread[0] if is_on_post else self.comment


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """Terms, pointer and perhaps an exit, and the text built from them."""

    terms: str
    pointer: str
    exit: str = ""
    text: str
    title: str = ""
    target: int = 0  # of an exploration: which candidate it answers, counted from 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """A model with its key in the clear. Never log or show it."""

    model: str  # provider:name
    base_url: str = ""
    key: str = field(default="", repr=False)
    output_style: str = "tool"  # tool, native or prompted
    streams: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationSettings:
    temperature: float = 0.7
    output_tokens: int = 1_000
    timeout: float = 60.0  # timeout of one request, in seconds


class UsageRecorder(Protocol):
    """Records transcript and cost while a voice works. Every call may raise `LeaseLost`."""

    def is_ending(self) -> bool:
        """Whether the worker is stopping. Thread-safe."""

    def out_of_time(self) -> StoredReason | None:
        """Why no time is left, if so. Thread-safe, and asked many times a second."""

    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Any:
        """Reserve the maximum cost of a request and record its start; return a ticket.

        Raises `OutOfBudget` or `LimitReached`: then send no request.
        """

    def answered(
        self,
        ticket: Any,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        """Settle the cost and record the answer. `cost` None: the price is unknown."""

    def failed(self, ticket: Any, why: StoredReason, *, took_ms: int, may_have_cost: bool) -> None:
        """Record a failed request. `may_have_cost`: it reached the provider."""


def built(terms: str, pointer: str, exit: str) -> str:
    """The text to send: the non-empty parts, one paragraph each."""
    return "\n\n".join(part for part in (terms.strip(), pointer.strip(), exit.strip()) if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOffer:
    """A tool as the model is told of it."""

    name: str  # not `write`, which is the form of the answer
    description: str
    schema: Mapping[str, Any]  # JSON schema of its arguments


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOutcome:
    """What became of a tool call: `text` for the model, or it waits for an operator."""

    text: str = ""
    is_error: bool = False
    is_fatal: bool = False  # the activation ends with `why`
    is_waiting: bool = False
    why: StoredReason | str = ""


class ToolBelt(Protocol):
    """The tools of one conversation, and what decides about each call."""

    def show(self, brief: Brief) -> None:
        """Note what the prompt shows of other people's words, before the first request."""

    def offered(self) -> Sequence[ToolOffer]:
        """Tools that are granted now."""

    async def call(self, name: str, arguments: str, *, call_id: str) -> CallOutcome:
        """Decide about one call and run it. Never raises for what the model did.

        `arguments`: as the model wrote them, which may be no JSON, and megabytes. `call_id`: ours,
        unique in the conversation. Raises `LeaseLost`, and `LimitReached` when no call is left.
        It is cancelled when the time is used or the worker stops.
        """

    def decided(self) -> Mapping[str, CallOutcome]:
        """Outcomes of the calls that waited, by call id, all of which have ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SuspendedConversation:
    """The conversation waits for operators. `messages` is what it goes on from: JSON, masked."""

    model: str
    messages: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingToSay:
    """The voice found nothing worth saying, and says why."""

    words: str


Ending = Reply | SuspendedConversation | NothingToSay


class Voice(Protocol):
    name: str  # shown with every draft: scripted, or the models' names

    def write(
        self,
        brief: Brief,
        watch: UsageRecorder,
        *,
        tools: ToolBelt | None = None,
        suspended: SuspendedConversation | None = None,
    ) -> Ending:
        """Return a reply, or raise a `VoiceError`.

        With `tools` it may call them, and the conversation may be suspended; `suspended` goes on
        with one, whose calls are decided. Purposes explore and task may end with nothing to say.
        """
