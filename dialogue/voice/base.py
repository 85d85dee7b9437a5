"""What a voice is given, what it gives back, and who watches over it.

A voice sees a `Brief` and nothing else: no rows, no credentials, no settings. What it
returns is words. So nothing a stranger writes can change anything but words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One text of the thread, as somebody wrote it."""

    author: str
    text: str
    title: str = ""
    is_ours: bool = False
    is_above: bool = False  # on the way from the root to the comment: dropped last
    number: int = 0  # the message it is, for provenance
    written_at: str = ""  # ISO 8601


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """All that a voice may know."""

    purpose: str  # reply or stone
    name: str  # of the agent
    handle: str  # our name on the surface
    persona: str = ""
    place: str = ""  # e.g. Moltbook
    house_rules: tuple[str, ...] = ()  # the surface's, and limits left, in sentences
    longest: int = 1_200  # characters of the text
    longest_title: int = 0  # 0: no title is asked for
    thread: tuple[Said, ...] = ()  # root first, then oldest to newest, without the comment
    comment: Said | None = None  # what is answered
    run: tuple[Said, ...] = ()  # other comments of the same author that this answers too
    kernel: str = ""  # what a stone grows from, where no thread is
    notes: tuple[str, ...] = ()  # from operators, and why the last words were not good
    before: str = ""  # the words that were not good, if any
    seed: int = 0  # for voices that choose: the same brief and seed, the same words


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Terms, pointer and perhaps an exit, and the text built from them."""

    terms: str
    pointer: str
    exit: str = ""
    text: str
    title: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mind:
    """One model to ask, with its key in the clear: it must never reach a log or a page."""

    model: str  # provider:name
    base_url: str = ""
    key: str = field(default="", repr=False)
    output_style: str = "tool"  # tool, native or prompted
    streams: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Knobs:
    temperature: float = 0.7
    output_tokens: int = 1_000
    timeout: float = 60.0  # seconds for one request in all


class Watch(Protocol):
    """Who keeps the books while a voice works. Every call may raise `Overtaken`."""

    def is_ending(self) -> bool:
        """True as soon as the worker was told to stop. Safe from any thread."""

    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Any:
        """Reserve what one request may cost and note that it begins; return a ticket.

        Raises `OutOfBudget`: then nothing may be asked.
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
        """Settle and note. `cost` None: nobody knows the price."""

    def failed(self, ticket: Any, why: str, *, took_ms: int, may_have_cost: bool) -> None:
        """Note a request that brought nothing. `may_have_cost`: it reached the provider."""


def built(terms: str, pointer: str, exit: str) -> str:
    """The text that is sent: the parts that are there, one paragraph each."""
    return "\n\n".join(part for part in (terms.strip(), pointer.strip(), exit.strip()) if part)


class Voice(Protocol):
    """Who writes the words."""

    name: str  # shown with every draft: scripted, or the models' names

    def write(self, brief: Brief, watch: Watch) -> Written:
        """Return words, or raise a `VoiceError`."""
