"""Let a voice write once, so that people see how it writes. Nothing of it becomes a draft.

It costs what it costs: what a call may take is booked before it, and put right after it.
Whoever dies in between has spent it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F

from dialogue import briefing, speaking, spending
from dialogue.checking import faults
from dialogue.errors import VoiceError
from dialogue.models import Agent, Notification
from dialogue.voice.base import Brief, Said, Voice, Written
from surfaces.errors import SurfaceError
from surfaces.models import AuditEvent
from surfaces.models.message import Kind, SpamStatus

Clock = Callable[[], datetime]
COMMENT = Said(
    author="a reader",
    text="You say the tide table leaves something out. But it has been right every day this"
    " year. What would you add, and who would read it?",
)


@dataclass(kw_only=True, slots=True)
class Sample:
    """What came of it. `words` None: nothing; `trouble` says why."""

    about: Said = COMMENT
    is_built_in: bool = True
    words: Written | None = None
    faults: list[str] = field(default_factory=list)
    trouble: str = ""
    voice: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)
    cost_is_guess: bool = False

    @property
    def cost_words(self) -> str:
        return f"${self.cost:.4f}" if self.cost else "$0"


def sample(
    agent: Agent, *, by: str, clock: Clock, opened: Callable[[Agent], Voice] = speaking.voice_of
) -> Sample:
    """Write an answer to the newest comment in its inbox, or to one of ours. Holds no lock."""
    newest, made = _newest(agent), Sample()
    try:
        _write(agent, newest, made, clock=clock, opened=opened)
    except (VoiceError, SurfaceError) as error:
        made.trouble = str(error)
    _note(agent, made, by=by)
    return made


def _write(
    agent: Agent,
    newest: Notification | None,
    made: Sample,
    *,
    clock: Clock,
    opened: Callable[[Agent], Voice],
) -> None:
    brief, context = briefing.of_reply(newest, now=clock()) if newest else (_built_in(agent), None)
    made.about, made.is_built_in = brief.comment or COMMENT, newest is None
    voice = opened(agent)
    made.voice = voice.name
    made.words = voice.write(brief, Purse(agent, made, clock=clock))
    made.faults = faults(made.words, context) if context else []


def _newest(agent: Agent) -> Notification | None:
    rows = Notification.objects.filter(
        agent=agent, message__kind=Kind.COMMENT, message__deleted_at=None
    )
    trusted = rows.exclude(message__spam_status__in=[SpamStatus.SPAM, SpamStatus.SUSPECT])
    return (
        trusted.select_related(
            "presence__agent__settings", "presence__account__surface", "message__post"
        )
        .order_by("-id")
        .first()
    )


def _built_in(agent: Agent) -> Brief:
    return Brief(
        purpose="reply",
        name=agent.name,
        handle=agent.slug,
        persona=agent.persona,
        place="a sample",
        longest=agent.settings.longest_reply,
        comment=COMMENT,
        seed=agent.pk,
    )


def _note(agent: Agent, made: Sample, *, by: str) -> None:
    AuditEvent.objects.record(
        "voice.tried",
        actor=by,
        subject=agent,
        why=made.trouble,
        voice=made.voice,
        tokens=made.tokens_in + made.tokens_out,
        cost=made.cost_words,
        guessed=made.cost_is_guess,
    )


@dataclass(frozen=True, slots=True)
class Booked:
    tokens: int
    money: Decimal
    at: datetime


@dataclass(slots=True)
class Purse:
    """Pays for a sample. See `voice.base.Watch`."""

    agent: Agent
    made: Sample
    clock: Clock

    def is_ending(self) -> bool:
        return False

    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> Booked:
        money = spending.guess(self.agent.settings, tokens_in, tokens_out)
        booked = Booked(tokens_in + tokens_out, money, self.clock())
        book(self.agent, booked)
        return booked

    def answered(
        self,
        ticket: Booked,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        kept = self.agent.settings
        money = spending.guess(kept, tokens_in, tokens_out) if cost is None else cost
        correct(self.agent, ticket, tokens=tokens_in + tokens_out, money=money)
        self.made.tokens_in += tokens_in
        self.made.tokens_out += tokens_out
        self.made.cost += money
        self.made.cost_is_guess |= cost is None

    def failed(self, ticket: Booked, why: str, *, took_ms: int, may_have_cost: bool) -> None:
        if not may_have_cost:
            correct(self.agent, ticket, tokens=0, money=Decimal(0))
            return
        self.made.tokens_out += ticket.tokens
        self.made.cost += ticket.money
        self.made.cost_is_guess = True


# ── the books ─────────────────────────────────────────────────────────────


@transaction.atomic
def book(agent: Agent, booked: Booked) -> None:
    """Write down what a call may cost as spent, or raise `OutOfBudget`."""
    rows = spending.with_room(
        agent.slug, agent.settings, tokens=booked.tokens, money=booked.money, now=booked.at
    )
    spending.enter(rows, tokens=F("tokens") + booked.tokens, money=F("money") + booked.money)


@transaction.atomic
def correct(agent: Agent, booked: Booked, *, tokens: int, money: Decimal) -> None:
    """What it did cost, in place of what it might."""
    spending.enter(
        spending.locked(agent.slug, booked.at),
        tokens=F("tokens") + (tokens - booked.tokens),
        money=F("money") + (money - booked.money),
    )
