"""Ask the voice for words, check them, let it rewrite once; keep the transcript and the money.

asked ─> answered ─> checked ──good──> words
                        └─ faults ─> asked again, with the reasons ─> words | a failed try
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from dialogue import activations, spending
from dialogue.activations import Cost
from dialogue.checking import Context, faults
from dialogue.errors import VoiceBroken, VoiceEnding
from dialogue.models import Activation, Agent, AgentSettings, Brain, Reservation
from dialogue.models.settings import VoiceKind
from dialogue.voice import open_voice
from dialogue.voice.base import Brief, Knobs, Mind, Voice, Written
from surfaces.models import Draft

Clock = Callable[[], datetime]
LONGEST_ORIGIN = Draft._meta.get_field("origin").max_length
FRESH_SEED = 7_919  # so that a voice that chooses chooses otherwise the second time


class FaultyWords(VoiceBroken):
    """Twice the words did not pass the checks; the message says why."""


def voice_of(agent: Agent) -> Voice:
    """Open who writes for this agent, as its settings say."""
    settings = agent.settings
    brains = agent.brains.order_by("rank", "id") if settings.voice == VoiceKind.MODEL else []
    knobs = Knobs(
        temperature=settings.temperature,
        output_tokens=settings.output_tokens,
        timeout=float(settings.timeout_seconds),
    )
    return open_voice(settings.voice, [_mind(brain) for brain in brains], knobs)


def _mind(brain: Brain) -> Mind:
    return Mind(
        model=brain.model,
        base_url=brain.base_url,
        key=brain.key,
        output_style=brain.output_style,
        streams=brain.streams,
    )


def speak(
    activation: Activation,
    brief: Brief,
    context: Context,
    *,
    clock: Clock,
    is_ending: Callable[[], bool] = lambda: False,
) -> tuple[Written, str]:
    """Return words that passed every check, and the voice's name; or raise a `VoiceError`.

    Holds no transaction: the voice may take minutes.
    """
    agent = activation.agent
    voice = voice_of(agent)
    activation.note(voice=voice.name[:200])
    books = Books(activation, agent.settings, clock=clock, ending=is_ending)
    written = voice.write(brief, books)
    found = _checked(activation, written, context, clock=clock)
    if found:
        if is_ending():
            raise VoiceEnding("It was told to stop before it could write again.")
        written = voice.write(_again(brief, written, found), books)
        found = _checked(activation, written, context, clock=clock)
    if found:
        raise FaultyWords(f"The words did not pass, twice: {' '.join(found)}")
    return written, voice.name


def _again(brief: Brief, written: Written, found: list[str]) -> Brief:
    notes = (*brief.notes, *(f"The last words were not good: {fault}" for fault in found))
    return replace(brief, notes=notes, before=written.text, seed=brief.seed + FRESH_SEED)


def _checked(
    activation: Activation, written: Written, context: Context, *, clock: Clock
) -> list[str]:
    found = faults(written, context)
    words = " ".join(found) or "Every check passed."
    activations.step(activation, "checked", words, now=clock(), facts={"faults": found})
    return found


@dataclass(frozen=True, slots=True)
class Ticket:
    """One request under way, and what is held for it."""

    reservation: Reservation
    model: str


@dataclass(slots=True)
class Books:
    """Keeps transcript and money while a voice works. See `voice.base.Watch`."""

    activation: Activation
    settings: AgentSettings
    clock: Clock
    ending: Callable[[], bool]

    def is_ending(self) -> bool:
        return self.ending()

    @transaction.atomic
    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Ticket:
        money = spending.guess(self.settings, tokens_in, tokens_out)
        now = self.clock()
        # First, and in one step: whoever takes us back finds what we hold.
        activations.renew(self.activation, now=now)
        held = spending.reserve(
            self.activation, self.settings, tokens=tokens_in + tokens_out, money=money, now=now
        )
        words = f"Asked {model}; {tokens_in + tokens_out:,} tokens and ${money:.4f} are held."
        activations.step(self.activation, "asked", words, now=now, facts=_plain(facts))
        return Ticket(held, model)

    @transaction.atomic
    def answered(
        self,
        ticket: Ticket,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        money = spending.guess(self.settings, tokens_in, tokens_out) if cost is None else cost
        spent = Cost(tokens_in=tokens_in, tokens_out=tokens_out, money=money, is_guess=cost is None)
        activations.step(
            self.activation, "answered", words, now=self.clock(), facts=_plain(facts), cost=spent,
            took_ms=took_ms,
        )  # fmt: skip
        spending.settle(
            ticket.reservation, tokens=tokens_in + tokens_out, money=money, now=self.clock()
        )

    @transaction.atomic
    def failed(self, ticket: Ticket, why: str, *, took_ms: int, may_have_cost: bool) -> None:
        """What reached the provider may be on its bill: it counts as held, marked as a guess."""
        held = ticket.reservation
        tokens, money = (held.tokens, held.money) if may_have_cost else (0, Decimal(0))
        spent = Cost(tokens_out=tokens, money=money, is_guess=may_have_cost)
        activations.step(
            self.activation, "failed", why, now=self.clock(), cost=spent, took_ms=took_ms
        )
        spending.settle(held, tokens=tokens, money=money, now=self.clock())


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as JSON can hold them; PostgreSQL takes no NUL."""
    return {
        name: fact.replace("\0", "") if isinstance(fact, str) else fact
        for name, fact in facts.items()
    }
