"""Generate a text with a voice, check it, allow one rewrite; record transcript and cost.

asked ─> answered ─> checked ──good──> text
  │                     └─ faults ─> asked again, with the reasons ─> text | a failed attempt
  ├─> called ─> returned ─> asked …      (with tools)
  ├─> a call waits: the conversation is suspended
  └─> nothing to say

The rewrite is a second request without tools: it is shown the faulty text, in which the material
already is, and what was wrong with it. No tool is called again for the sake of a form.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import translation

from dialogue.activations import limits
from dialogue.activations import services as activation_services
from dialogue.activations.models import ActivationItem
from dialogue.activations.services import ActivationCost
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets import services as budget_services
from dialogue.errors import VoiceBroken, VoiceStopping
from dialogue.models import Activation, Agent, AgentSettings, Reservation
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
    """Return how it ended, and the voice's name; or raise a `VoiceError`.

    A reply has passed every check. Holds no transaction, because the voice may take minutes.
    """
    agent = activation.agent
    voice = voice_of(agent)
    activation.note(voice=voice.name[:200])
    books = ActivationRecorder(activation, agent.settings, clock=clock, ending=is_ending, item=item)
    if tools and not suspended:
        tools.show(brief)
    written = voice.write(brief, books, tools=tools, suspended=suspended)
    if not isinstance(written, Reply):
        return written, voice.name
    found = _checked(books, written, context)
    if not found:
        return written, voice.name
    if is_ending():
        raise VoiceStopping("voice.stopped")
    with translation.override("en"):  # the prompt is English
        why = (f"The last words were not good: {fault}" for fault in found)
        again = replace(brief, notes=(*brief.notes, *why), before=written.text)
    rewritten = voice.write(replace(again, seed=brief.seed + FRESH_SEED), books)
    if isinstance(rewritten, Reply):
        rewritten = replace(rewritten, target=rewritten.target or written.target)
        if found := _checked(books, rewritten, context):
            raise VoiceBroken(reason("voice.faulty_twice", faults=several(found)))
    return rewritten, voice.name


def generate_reply(
    activation: Activation, brief: Brief, context: OutputContext, **given: Any
) -> tuple[Reply, str]:
    """The same without tools, for a purpose that always ends with a reply or post."""
    written, voice = generate(activation, brief, context, **given)
    if not isinstance(written, Reply):
        raise VoiceBroken(reason("voice.wrong_form", model=voice))
    return written, voice


def _checked(
    books: "ActivationRecorder", written: Reply, context: OutputContext
) -> list[StoredReason]:
    found = find_problems(written, context)
    why = several(found) or "voice.checks_passed"
    books.record("checked", why=why, facts={"faults": found})
    return found


@dataclass(slots=True)
class ActivationRecorder:
    """Records transcript and cost of an activation. See `voice.base.UsageRecorder`."""

    activation: Activation
    settings: AgentSettings
    clock: Clock
    ending: Callable[[], bool]
    item: ActivationItem | None = None

    def record(self, kind: str, words: str = "", **given: Any) -> None:
        activation_services.record_step(
            self.activation, kind, words, now=self.clock(), item=self.item, **given
        )

    def is_ending(self) -> bool:
        return self.ending()

    def out_of_time(self) -> StoredReason | None:
        return limits.time_reached(self.activation, self.settings, now=self.clock())

    @transaction.atomic
    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Reservation:
        money = budget_services.estimate_cost(self.settings, tokens_in, tokens_out)
        now, ours, tokens = self.clock(), self.activation, tokens_in + tokens_out
        # Before the request, in one transaction: reclaiming finds the reservation.
        activation_services.renew(ours, now=now)
        limits.count_request(ours, self.settings, tokens=tokens, money=money, now=now)
        held = budget_services.reserve(ours, self.settings, tokens=tokens, money=money, now=now)
        why = reason("voice.asked", model=model, tokens=tokens, money=f"${money:.4f}")
        self.record("asked", why=why, facts=_plain(facts))
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
        self.record("answered", words, facts=_plain(facts), cost=spent, took_ms=took_ms)
        tokens = tokens_in + tokens_out
        budget_services.settle(ticket, tokens=tokens, money=money, now=self.clock())

    @transaction.atomic
    def failed(
        self, ticket: Reservation, why: StoredReason, *, took_ms: int, may_have_cost: bool
    ) -> None:
        """A request that reached the provider counts as its reservation, as an estimate."""
        tokens, money = (ticket.tokens, ticket.money) if may_have_cost else (0, Decimal(0))
        spent = ActivationCost(tokens_out=tokens, money=money, is_guess=may_have_cost)
        self.record("failed", why=why, cost=spent, took_ms=took_ms)
        budget_services.settle(ticket, tokens=tokens, money=money, now=self.clock())


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as JSON, without NUL, which PostgreSQL refuses."""
    return {
        name: fact.replace("\0", "") if isinstance(fact, str) else fact
        for name, fact in facts.items()
    }
