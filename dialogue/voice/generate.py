"""Generate a text with a voice, check it, allow one rewrite; record transcript and cost.

asked ─> answered ─> checked ──good──> text
                        └─ faults ─> asked again, with the reasons ─> text | a failed attempt
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import translation

from dialogue.activations import services as activation_services
from dialogue.activations.services import ActivationCost
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import services as budget_services
from dialogue.errors import VoiceBroken, VoiceStopping
from dialogue.models import Activation, ActivationItem, Agent, AgentSettings, Reservation
from dialogue.voice import open_voice
from dialogue.voice.base import (
    Brief,
    Ending,
    GenerationSettings,
    ModelConfig,
    Reply,
    SuspendedConversation,
    ToolBelt,
    Voice,
)
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces.models import Draft
from surfaces.text.reasons import StoredReason, reason, several

Clock = Callable[[], datetime]
LONGEST_ORIGIN = Draft._meta.get_field("origin").max_length
FRESH_SEED = 7_919  # so that a voice with a random choice writes another text the second time


def voice_of(agent: Agent) -> Voice:
    settings = agent.settings
    brains = agent.brains.order_by("rank", "id") if settings.voice == VoiceKind.MODEL else []
    minds = [
        ModelConfig(**{field.name: getattr(brain, field.name) for field in fields(ModelConfig)})
        for brain in brains
    ]
    knobs = GenerationSettings(
        temperature=settings.temperature,
        output_tokens=settings.output_tokens,
        timeout=float(settings.timeout_seconds),
    )
    return open_voice(settings.voice, minds, knobs)


def generate(
    activation: Activation,
    brief: Brief,
    context: OutputContext,
    *,
    clock: Clock,
    is_ending: Callable[[], bool] = lambda: False,
    item: ActivationItem | None = None,
    tools: ToolBelt | None = None,
    suspended: SuspendedConversation | None = None,
) -> tuple[Ending, str]:
    """Return a text that passed every check, and the voice's name; or raise a `VoiceError`.

    Holds no transaction, because the voice may take minutes.
    """
    agent = activation.agent
    voice = voice_of(agent)
    activation.note(voice=voice.name[:200])
    books = ActivationRecorder(activation, agent.settings, clock=clock, ending=is_ending)
    written = voice.write(brief, books)
    found = _checked(activation, written, context, clock=clock)
    if found:
        if is_ending():
            raise VoiceStopping("voice.stopped")
        with translation.override("en"):  # the prompt is English
            why = (f"The last words were not good: {fault}" for fault in found)
            again = replace(brief, notes=(*brief.notes, *why), before=written.text)
        written = voice.write(replace(again, seed=brief.seed + FRESH_SEED), books)
        found = _checked(activation, written, context, clock=clock)
    if found:
        raise VoiceBroken(reason("voice.faulty_twice", faults=several(found)))
    return written, voice.name


def _checked(
    activation: Activation, written: Reply, context: OutputContext, *, clock: Clock
) -> list[StoredReason]:
    found = find_problems(written, context)
    why, facts = several(found) or "voice.checks_passed", {"faults": found}
    activation_services.record_step(activation, "checked", why=why, now=clock(), facts=facts)
    return found


@dataclass(slots=True)
class ActivationRecorder:
    """Records transcript and cost of an activation. See `voice.base.UsageRecorder`."""

    activation: Activation
    settings: AgentSettings
    clock: Clock
    ending: Callable[[], bool]

    def is_ending(self) -> bool:
        return self.ending()

    @transaction.atomic
    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Reservation:
        money = budget_services.estimate_cost(self.settings, tokens_in, tokens_out)
        now, ours, tokens = self.clock(), self.activation, tokens_in + tokens_out
        # Before the request, in one transaction: reclaiming finds the reservation.
        activation_services.renew(ours, now=now)
        held = budget_services.reserve(ours, self.settings, tokens=tokens, money=money, now=now)
        why = reason("voice.asked", model=model, tokens=tokens, money=f"${money:.4f}")
        activation_services.record_step(ours, "asked", why=why, now=now, facts=_plain(facts))
        return held

    @transaction.atomic
    def answered(
        self,
        ticket: Reservation,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        guess = budget_services.estimate_cost(self.settings, tokens_in, tokens_out)
        money = guess if cost is None else cost
        spent = ActivationCost(
            tokens_in=tokens_in, tokens_out=tokens_out, money=money, is_guess=cost is None
        )
        activation_services.record_step(
            self.activation, "answered", words, now=self.clock(), facts=_plain(facts), cost=spent,
            took_ms=took_ms,
        )  # fmt: skip
        tokens = tokens_in + tokens_out
        budget_services.settle(ticket, tokens=tokens, money=money, now=self.clock())

    @transaction.atomic
    def failed(
        self, ticket: Reservation, why: StoredReason, *, took_ms: int, may_have_cost: bool
    ) -> None:
        """A request that reached the provider counts as its reservation, as an estimate."""
        tokens, money = (ticket.tokens, ticket.money) if may_have_cost else (0, Decimal(0))
        spent = ActivationCost(tokens_out=tokens, money=money, is_guess=may_have_cost)
        activation_services.record_step(
            self.activation, "failed", why=why, now=self.clock(), cost=spent, took_ms=took_ms
        )
        budget_services.settle(ticket, tokens=tokens, money=money, now=self.clock())


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as JSON, without NUL, which PostgreSQL refuses."""
    return {
        name: fact.replace("\0", "") if isinstance(fact, str) else fact
        for name, fact in facts.items()
    }
