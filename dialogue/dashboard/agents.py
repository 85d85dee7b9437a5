"""Read the list of agents and the overview of one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Window
from django.utils.translation import gettext as _

from dialogue.activations.listing import ActivationRow
from dialogue.activations.models import Activation
from dialogue.agents.active_hours import local_day
from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence, PresenceQuerySet
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets.meters import Books, BudgetMeter, meters, spending_rows
from dialogue.budgets.models import HOUSE, Period, SharedBudget
from dialogue.budgets.services import owner_of
from dialogue.dashboard.agent_status import AgentStatus, agent_status
from dialogue.inbox.waiting import WaitSummary, waits
from surfaces.drafts.models import DEAD, DraftKind, DraftState, Feedback
from surfaces.models import Account, Draft, Pause
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.text.format import initials
from surfaces.web.pagination import Keyset, paginate_forward

BY_SLUG = Keyset(("slug", str))
VERDICTS = 6
WAKINGS = 8
LATELY = timedelta(days=30)


def light(presences: PresenceQuerySet) -> PresenceQuerySet:
    """Live presences with account and surface, without secret or long columns."""
    return (
        presences.live()
        .select_related("account__surface")
        .defer("account__sealed_credential", "account__cursor")
        .order_by("account__name")
    )


# ── all of them ───────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRow:
    agent: Agent
    standing: AgentStatus
    presences: list[Presence]
    sent: int  # today
    waiting: int  # for a person
    failed: int  # undecided
    money: BudgetMeter


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentPage:
    rows: list[AgentRow]
    house: list[BudgetMeter]
    budget: SharedBudget
    older: str  # query string of the agents that follow, or ""


def list_agents(
    found: QuerySet[Agent],
    given: Mapping[str, str],
    pauses: Iterable[Pause],
    *,
    midnight: datetime,
    now: datetime,
    reach: Scope = UNRESTRICTED,
) -> AgentPage:
    """One page of agents, by slug. Six queries."""
    found = found.select_related("settings").defer("persona").prefetch_related("brains")
    part = paginate_forward(found, given, keyset=BY_SLUG)
    agents = part.rows
    spoken, kept = (
        _presences(agents, reach),
        spending_rows([agent.slug for agent in agents], now=now),
    )
    drafts, house = _drafts(agents, midnight, reach), house_budget()
    shared = meters(kept, HOUSE, house, now=now)
    pauses = list(pauses)
    rows = []
    for agent in agents:
        mine = meters(kept, owner_of(agent.slug), agent.settings, now=now)
        here = spoken[agent.pk]
        rows.append(
            AgentRow(
                agent=agent,
                standing=agent_status(agent, here, pauses, [*mine, *_of_all(shared)], now=now),
                presences=here,
                money=mine[0],
                sent=drafts[agent.slug, "sent"],
                waiting=drafts[agent.slug, "waiting"],
                failed=drafts[agent.slug, "failed"],
            )
        )
    return AgentPage(
        rows=rows,
        house=shared,
        budget=house,
        older=part.older,
    )


def _of_all(shared: Iterable[BudgetMeter]) -> list[BudgetMeter]:
    """Label meters of the shared budget, to tell them from the agent's own."""
    return [
        replace(bar, label=_("Budget of all agents, %(label)s") % {"label": bar.label})
        for bar in shared
    ]


def house_budget() -> SharedBudget:
    """The stored row, or an unsaved one with the defaults."""
    return SharedBudget.objects.filter(pk=1).first() or SharedBudget()


def _presences(agents: Sequence[Agent], reach: Scope) -> dict[int, list[Presence]]:
    found: dict[int, list[Presence]] = defaultdict(list)
    rows = reach.narrow(Presence.objects.filter(agent__in=agents), agent="")
    for presence in light(rows):
        found[presence.agent_id].append(presence)
    return found


def _drafts(agents: Sequence[Agent], midnight: datetime, reach: Scope) -> Counter[tuple[str, str]]:
    """Count drafts: sent since midnight, waiting and failed of any age."""
    rows = Draft.objects.filter(agent__in=[agent.slug for agent in agents]).order_by()
    rows = rows.filter(
        Q(state=DraftState.SENT, sent_at__gte=midnight)
        | Q(state__in=[DraftState.WAITING, DraftState.FAILED])
    )
    counts = reach.narrow(rows).values_list("agent", "state").annotate(count=Count("pk"))
    return Counter({(slug, state): count for slug, state, count in counts})


# ── one of them ───────────────────────────────────────────────────────────

# The shared limits are annotated on the presences, which saves a query.
_LIMITS = [f"{what}_per_{period}" for what in ("money", "tokens") for period in Period]
_HOUSE_LIMITS = {
    f"house_{limit}": Subquery(SharedBudget.objects.filter(pk=1).values(limit)) for limit in _LIMITS
}


def _house_beside(presence: Presence) -> SharedBudget:
    """As `house_budget`, from the annotations of a presence."""
    limits = {limit: getattr(presence, f"house_{limit}") for limit in _LIMITS}
    return SharedBudget(**{name: most for name, most in limits.items() if most is not None})


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentToday:
    """Counts of today."""

    sent: int
    waiting: int
    failed: int
    replies: BudgetMeter


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackCounts:
    """Recent review decisions about its drafts."""

    last: list[Draft]
    approved: int
    judged: int

    @property
    def share(self) -> float | None:
        return self.approved / self.judged if self.judged else None


class AgentOverview:
    """One agent for its pages. Each part is queried when a template first uses it."""

    def __init__(
        self,
        agent: Agent,
        pauses: Iterable[Pause],
        *,
        midnight: datetime,
        now: datetime,
        reach: Scope = UNRESTRICTED,
    ) -> None:
        """`agent` comes with its settings."""
        self.agent, self.midnight, self.now = agent, midnight, now
        self._pauses, self._reach = pauses, reach

    @cached_property
    def presences(self) -> list[Presence]:
        mine = Presence.objects.filter(agent=self.agent).annotate(**_HOUSE_LIMITS)
        found = list(light(self._reach.narrow(mine, agent="")))
        for presence in found:
            presence.agent = self.agent
        return found

    @cached_property
    def _books(self) -> Books:
        return spending_rows([self.agent.slug], now=self.now)

    @cached_property
    def bars(self) -> list[BudgetMeter]:
        return meters(self._books, owner_of(self.agent.slug), self.agent.settings, now=self.now)

    @property
    def meters(self) -> list[BudgetMeter]:
        """Budgets, then the daily limit of replies."""
        return [*self.bars, self.today.replies]

    @property
    def initials(self) -> str:
        return initials(self.agent.name)

    @cached_property
    def standing(self) -> AgentStatus:
        limits = [*self.bars, *self._shared]
        return agent_status(self.agent, self.presences, self._pauses, limits, now=self.now)

    @property
    def _shared(self) -> list[BudgetMeter]:
        """Meters of the shared budget. They matter only for agents with a model and an account."""
        if self.agent.settings.voice != VoiceKind.MODEL or not self.presences:
            return []
        house = _house_beside(self.presences[0])
        return _of_all(meters(self._books, HOUSE, house, now=self.now))

    @property
    def places(self) -> list[str]:
        """Names of its surfaces, each once."""
        return list(dict.fromkeys(presence.account.surface.name for presence in self.presences))

    @property
    def modes(self) -> list[str]:
        return sorted({presence.effective_mode for presence in self.presences})

    @cached_property
    def today(self) -> AgentToday:
        return _today(self.agent, midnight=self.midnight, now=self.now, reach=self._reach)

    @cached_property
    def verdicts(self) -> FeedbackCounts:
        return _verdicts(self.agent, now=self.now, reach=self._reach)

    @cached_property
    def wakings(self) -> list[ActivationRow]:
        rows = Activation.objects.filter(agent=self.agent)
        rows = self._reach.narrow(rows, account="presence__account", agent="")
        return [ActivationRow(row, self.now) for row in rows.order_by("-id")[:WAKINGS]]

    @cached_property
    def waits(self) -> list[WaitSummary]:
        return waits(self.agent, now=self.now, reach=self._reach)


def _today(agent: Agent, *, midnight: datetime, now: datetime, reach: Scope) -> AgentToday:
    """Count drafts of today; replies as `replies.decision` counts them.

    Replies of all accounts count, also outside the operator's limits: the limit is the agent's.
    """
    here = Q() if reach.accounts is None else Q(account__in=reach.accounts)
    begin, end = local_day(now, agent.zone)
    counts_today = Q(sent_at=None) | Q(sent_at__gte=begin)
    found = Draft.objects.by_agent(agent.slug).aggregate(
        sent=Count("pk", filter=here & Q(state=DraftState.SENT, sent_at__gte=midnight)),
        waiting=Count("pk", filter=here & Q(state=DraftState.WAITING)),
        failed=Count("pk", filter=here & Q(state=DraftState.FAILED)),
        replies=Count("pk", filter=Q(what=DraftKind.REPLY) & ~Q(state__in=DEAD) & counts_today),
    )
    replies = BudgetMeter(
        label=_("Replies today"),
        used=Decimal(found.pop("replies")),
        most=Decimal(agent.settings.replies_per_day),
        unit=_("replies"),
        until=end,
        note=""
        if agent.timezone == "UTC"
        else _("resets at 00:00 %(timezone)s") % {"timezone": agent.timezone},
    )
    return AgentToday(replies=replies, **found)


def _verdicts(agent: Agent, *, now: datetime, reach: Scope) -> FeedbackCounts:
    """The latest reviews, and the share of approvals, in one query."""
    good = Q(judged__in=[Feedback.AS_WRITTEN, Feedback.EDITED])
    lately = reach.narrow(Draft.objects.by_agent(agent.slug), agent="")
    lately = lately.filter(decided_at__gte=now - LATELY)
    rows = (
        lately.exclude(judged="")
        .select_related("target")
        .only("judged", "decided_at", "decided_by", "why", "what", "target__author")
        .annotate(of=Window(Count("pk")), good=Window(Count("pk", filter=good)))
        .order_by("-decided_at", "-id")
    )
    last: list[Any] = list(rows[:VERDICTS])
    approved, judged = (last[0].good, last[0].of) if last else (0, 0)
    return FeedbackCounts(last=last, approved=approved, judged=judged)


def free_accounts() -> list[Account]:
    """Accounts without an agent."""
    taken = Presence.objects.live().filter(account=OuterRef("pk"))
    found = Account.objects.filter(~Exists(taken)).select_related("surface")
    return list(found.defer("sealed_credential", "cursor"))
