"""Read the list of agents and the overview of one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Subquery, Window
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from dialogue.activations.listing import ActivationRow, rows_within
from dialogue.agents import scope
from dialogue.agents.active_hours import local_day
from dialogue.agents.forms.run import RunForm
from dialogue.agents.models.presence import PresenceQuerySet
from dialogue.agents.models.settings import VoiceKind
from dialogue.budgets.meters import Books, BudgetMeter, meters, spending_rows
from dialogue.budgets.models import HOUSE, Period
from dialogue.budgets.services import owner_of
from dialogue.budgets.shared import current
from dialogue.dashboard.agent_status import AgentStatus, NextRun, agent_status, next_run
from dialogue.inbox.waiting import waits
from dialogue.models import Agent, Notification, Presence, SharedBudget
from dialogue.reports.listing import DayReport, ReportCounts, day_counts, last_day
from dialogue.reports.models import COUNTS
from surfaces.drafts.models import DEAD, DraftKind, DraftState, Feedback
from surfaces.home.frame import PageFrame
from surfaces.models import Account, Draft, Pause
from surfaces.operators.scope import Scope
from surfaces.text.format import initials
from surfaces.web.pagination import Keyset, paginate_forward
from surfaces.web.requests import OperatorRequest

BY_SLUG = Keyset(("slug", str))
VERDICTS = 6
WAKINGS = 8
LATELY = timedelta(days=30)


def light(presences: PresenceQuerySet) -> PresenceQuerySet:
    """Live presences with account and surface, without secret or long columns."""
    rows = presences.live().select_related("account__surface").order_by("account__name")
    return rows.defer("account__sealed_credential", "account__cursor")


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRow:
    agent: Agent
    standing: AgentStatus
    presences: list[Presence]
    sent: int  # today
    waiting: int  # for a person
    failed: int  # undecided
    money: BudgetMeter

    @property
    def modes(self) -> list[str]:
        return modes_of(self.agent, self.presences)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentPage:
    rows: list[AgentRow]
    house: list[BudgetMeter]
    older: str  # query string of the agents that follow, or ""


def modes_of(agent: Agent, presences: Iterable[Presence]) -> list[str]:
    """The modes in which it speaks: those of its accounts, which delivery follows."""
    return sorted({row.account.mode for row in presences}) or [agent.settings.mode]


def list_agents(
    given: Mapping[str, str], pauses: list[Pause], *, now: datetime, reach: Scope
) -> AgentPage:
    """One page of agents, by slug. Six queries."""
    found = scope.agents_within(reach).select_related("settings").defer("persona")
    part = paginate_forward(found.prefetch_related("brains"), given, keyset=BY_SLUG)
    agents = part.rows
    spoken: dict[int, list[Presence]] = defaultdict(list)
    for presence in light(reach.narrow(Presence.objects.filter(agent__in=agents), agent="")):
        spoken[presence.agent_id].append(presence)
    slugs = [agent.slug for agent in agents]
    kept, drafts = spending_rows(slugs, now=now), _drafts(slugs, reach)
    shared = meters(kept, HOUSE, current(), now=now)
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
    return AgentPage(rows=rows, house=shared, older=part.older)


def _of_all(shared: Iterable[BudgetMeter]) -> list[BudgetMeter]:
    """Label meters of the shared budget, to tell them from the agent's own."""
    label = _("Budget of all agents, %(label)s")
    return [replace(bar, label=label % {"label": bar.label}) for bar in shared]


def _drafts(slugs: Sequence[str], reach: Scope) -> Counter[tuple[str, str]]:
    """Count drafts: sent since midnight, waiting and failed of any age."""
    is_counted = Q(state=DraftState.SENT, sent_at__gte=midnight())
    is_counted |= Q(state__in=[DraftState.WAITING, DraftState.FAILED])
    rows = reach.narrow(Draft.objects.filter(is_counted, agent__in=slugs).order_by())
    counts = rows.values_list("agent", "state").annotate(count=Count("pk"))
    return Counter({(slug, state): count for slug, state, count in counts})


# The shared limits are annotated on the presences, which saves a query.
_LIMITS = [f"{what}_per_{period}" for what in ("money", "tokens") for period in Period]
_HOUSE_LIMITS = {
    f"house_{limit}": Subquery(SharedBudget.objects.filter(pk=1).values(limit)) for limit in _LIMITS
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackCounts:
    last: list[Draft]
    approved: int
    judged: int

    @property
    def share(self) -> float | None:
        return self.approved / self.judged if self.judged else None


class AgentOverview:
    """One agent for its pages. Each part is queried when a template first uses it."""

    def __init__(
        self, agent: Agent, pauses: Iterable[Pause], *, now: datetime, reach: Scope
    ) -> None:
        """`agent` comes with its settings."""
        self.agent, self.now, self._pauses, self._reach = agent, now, pauses, reach

    @cached_property
    def presences(self) -> list[Presence]:
        mine = Presence.objects.filter(agent=self.agent).annotate(
            **_HOUSE_LIMITS, **day_counts(self.now)
        )
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
        return [*self.bars, self.today["replies"]]

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
        limits = {name: getattr(self.presences[0], f"house_{name}") for name in _LIMITS}
        house = SharedBudget(**{name: most for name, most in limits.items() if most is not None})
        return _of_all(meters(self._books, HOUSE, house, now=self.now))

    @property
    def places(self) -> list[str]:
        return list(dict.fromkeys(presence.account.surface.name for presence in self.presences))

    @property
    def modes(self) -> list[str]:
        return modes_of(self.agent, self.presences)

    @cached_property
    def today(self) -> dict[str, Any]:
        """Count drafts of today; replies as `replies.decision` counts them.

        Replies of all accounts count, also outside the operator's limits: the limit is the agent's.
        """
        agent, accounts = self.agent, self._reach.accounts
        here = Q() if accounts is None else Q(account__in=accounts)
        begin, end = local_day(self.now, agent.zone)
        is_reply = Q(what=DraftKind.REPLY) & ~Q(state__in=DEAD)
        found = Draft.objects.by_agent(agent.slug).aggregate(
            sent=Count("pk", filter=here & Q(state=DraftState.SENT, sent_at__gte=midnight())),
            waiting=Count("pk", filter=here & Q(state=DraftState.WAITING)),
            failed=Count("pk", filter=here & Q(state=DraftState.FAILED)),
            replies=Count("pk", filter=is_reply & (Q(sent_at=None) | Q(sent_at__gte=begin))),
        )
        note = _("resets at 00:00 %(timezone)s") % {"timezone": agent.timezone}
        replies = BudgetMeter(
            label=_("Replies written today"), used=Decimal(found.pop("replies")), unit=_("replies"),
            most=Decimal(agent.settings.replies_per_day), until=end,
            note="" if agent.timezone == "UTC" else note,
        )  # fmt: skip
        return found | {"replies": replies}

    @cached_property
    def verdicts(self) -> FeedbackCounts:
        good = Q(judged__in=[Feedback.AS_WRITTEN, Feedback.EDITED])
        lately = self._reach.narrow(Draft.objects.by_agent(self.agent.slug), agent="")
        lately = lately.filter(decided_at__gte=self.now - LATELY)
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

    @cached_property
    def wakings(self) -> list[ActivationRow]:
        rows = rows_within(self._reach).filter(agent=self.agent).order_by("-id")
        return [ActivationRow(row, self.now) for row in rows[:WAKINGS]]

    @property
    def running(self) -> list[ActivationRow]:
        return [waking for waking in self.wakings if waking.is_running]

    @property
    def asked_runs(self) -> list[Presence]:
        """Accounts of which an operator wants work now, not begun yet."""
        return [presence for presence in self.presences if presence.run_asked_at]

    @cached_property
    def next_run(self) -> NextRun:
        return next_run(self.agent, self.standing, now=self.now)

    @cached_property
    def has_notifications(self) -> bool:
        found = Notification.objects.filter(agent=self.agent)
        return self._reach.narrow(found, account="presence__account", agent="").exists()

    @property
    def day(self) -> ReportCounts | None:
        """Counts of the last 24 hours over its accounts; None if nothing happened."""
        day = {
            name: sum(getattr(one, f"day_{name}") or 0 for one in self.presences) for name in COUNTS
        }
        return ReportCounts(**day) if any(day.values()) else None

    @cached_property
    def reports(self) -> DayReport:
        return last_day(self.agent, now=self.now, reach=self._reach)

    @cached_property
    def waits(self) -> list[dict[str, Any]]:
        return waits(self.agent, now=self.now, reach=self._reach)


def free_accounts() -> list[Account]:
    taken = Presence.objects.live().filter(account=OuterRef("pk"))
    found = Account.objects.filter(~Exists(taken)).select_related("surface")
    return list(found.defer("sealed_credential", "cursor"))


def agent_of(request: OperatorRequest, slug: str) -> Agent:
    rows = scope.agents_within(request.user.reach).select_related("settings")
    return get_object_or_404(rows, slug=slug)


def frame(
    request: OperatorRequest, slug: str, tab: str, found: Agent | None = None
) -> dict[str, Any]:
    shell, found = PageFrame(request), found or agent_of(request, slug)
    one = AgentOverview(found, shell.pauses, now=timezone.now(), reach=request.user.reach)
    return {"shell": shell, "one": one, "agent": found, "tab": tab, "run": RunForm()}


def midnight() -> datetime:
    """Of the person who looks."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
