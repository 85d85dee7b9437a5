"""Write a sample reply to show how a voice writes. It is not stored as a draft.

The maximum cost is booked before the request and corrected after it. If the process dies in
between, the maximum stays booked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from dialogue.budgets import services as budget_services
from dialogue.errors import VoiceError
from dialogue.models import Agent, Notification
from dialogue.voice import briefs, generate
from dialogue.voice.base import Brief, Reply, ThreadMessage, Voice
from dialogue.voice.output_checks import find_problems
from surfaces.errors import SurfaceError
from surfaces.messages.models import MessageKind, SpamStatus
from surfaces.models import AuditEvent
from surfaces.text.reasons import StoredReason

Clock = Callable[[], datetime]
COMMENT = ThreadMessage(
    author="a reader",
    text="You say the tide table leaves something out. But it has been right every day this"
    " year. What would you add, and who would read it?",
)


@dataclass(kw_only=True, slots=True)
class Sample:
    """The result. `words` None: nothing was written; `trouble` says why."""

    about: ThreadMessage = COMMENT
    is_built_in: bool = True
    words: Reply | None = None
    faults: list[StoredReason] = field(default_factory=list)
    trouble: StoredReason | str = ""
    voice: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)
    cost_is_guess: bool = False

    @property
    def cost_words(self) -> str:
        return f"${self.cost:.4f}" if self.cost else "$0"


def sample(
    agent: Agent, *, by: str, clock: Clock, opened: Callable[[Agent], Voice] = generate.voice_of
) -> Sample:
    """Write a reply to the newest comment in the inbox, or to a built-in one. Holds no lock."""
    newest, made = _newest(agent), Sample()
    try:
        if newest:
            brief, context = briefs.reply_brief(newest, now=clock())
            made.about, made.is_built_in = brief.comment or COMMENT, False
        else:
            brief, context = _built_in(agent), None
        voice = opened(agent)
        made.voice = voice.name
        written = voice.write(brief, SampleRecorder(agent, made, clock=clock))
        made.words = written if isinstance(written, Reply) else None
        made.faults = find_problems(made.words, context) if context and made.words else []
    except (VoiceError, SurfaceError) as error:
        made.trouble = error.reason
    AuditEvent.objects.record(
        "voice.tried", actor=by, subject=agent, why=made.trouble, voice=made.voice,
        tokens=made.tokens_in + made.tokens_out, cost=made.cost_words, guessed=made.cost_is_guess,
    )  # fmt: skip
    return made


def _newest(agent: Agent) -> Notification | None:
    rows = Notification.objects.filter(agent=agent, message__kind=MessageKind.COMMENT)
    rows = rows.filter(message__deleted_at=None)
    trusted = rows.exclude(message__spam_status__in=[SpamStatus.SPAM, SpamStatus.SUSPECT])
    along = ("presence__agent__settings", "presence__account__surface", "message__post")
    return trusted.select_related(*along).order_by("-id").first()


def _built_in(agent: Agent) -> Brief:
    return Brief(
        purpose="reply", name=agent.name, handle=agent.slug, persona=agent.persona,
        place=_("a sample"), longest=agent.settings.longest_reply, comment=COMMENT, seed=agent.pk,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampleCost:
    tokens: int
    money: Decimal
    at: datetime


@dataclass(slots=True)
class SampleRecorder:
    """Books the cost of a sample. See `voice.base.UsageRecorder`."""

    agent: Agent
    made: Sample
    clock: Clock

    def is_ending(self) -> bool:
        return False

    def out_of_time(self) -> None:
        """A sample has the timeout of its one request."""

    def asking(
        self, model: str, *, tokens_in: int, tokens_out: int, facts: Mapping[str, Any]
    ) -> SampleCost:
        money = budget_services.estimate_cost(self.agent.settings, tokens_in, tokens_out)
        booked = SampleCost(tokens_in + tokens_out, money, self.clock())
        book(self.agent, booked)
        return booked

    def answered(
        self,
        ticket: SampleCost,
        *,
        tokens_in: int,
        tokens_out: int,
        cost: Decimal | None,
        words: str,
        facts: Mapping[str, Any],
        took_ms: int,
    ) -> None:
        kept = self.agent.settings
        money = budget_services.estimate_cost(kept, tokens_in, tokens_out) if cost is None else cost
        correct(self.agent, ticket, tokens=tokens_in + tokens_out, money=money)
        self.made.tokens_in += tokens_in
        self.made.tokens_out += tokens_out
        self.made.cost += money
        self.made.cost_is_guess |= cost is None

    def failed(
        self, ticket: SampleCost, why: StoredReason, *, took_ms: int, may_have_cost: bool
    ) -> None:
        if not may_have_cost:
            correct(self.agent, ticket, tokens=0, money=Decimal(0))
            return
        self.made.tokens_out += ticket.tokens
        self.made.cost += ticket.money
        self.made.cost_is_guess = True


@transaction.atomic
def book(agent: Agent, booked: SampleCost) -> None:
    """Book the maximum cost as spent, or raise `OutOfBudget`."""
    rows = budget_services.with_room(
        agent.slug, agent.settings, tokens=booked.tokens, money=booked.money, now=booked.at
    )
    budget_services.enter(rows, tokens=F("tokens") + booked.tokens, money=F("money") + booked.money)


@transaction.atomic
def correct(agent: Agent, booked: SampleCost, *, tokens: int, money: Decimal) -> None:
    """Replace the booked cost by the actual cost."""
    budget_services.enter(
        budget_services.locked(agent.slug, booked.at),
        tokens=F("tokens") + (tokens - booked.tokens),
        money=F("money") + (money - booked.money),
    )
