"""The list of agents, and what one of them is doing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Window

from dialogue.hours import day_of
from dialogue.models import Activation, Agent, HouseBudget, Presence
from dialogue.models.presence import PresenceQuerySet
from dialogue.models.settings import VoiceKind
from dialogue.models.spending import HOUSE, Period
from dialogue.overview.figures import Bar, Books, bars, books
from dialogue.overview.standing import Standing, standing
from dialogue.overview.waits import Waits, waits
from dialogue.overview.wakings import Waking
from dialogue.spending import owner_of
from surfaces.models import Account, Draft, Pause
from surfaces.models.draft import DEAD, Judged, State, What
from surfaces.reach import WHOLE, Reach
from surfaces.showing import initials

SIZE = 50  # agents on a page
VERDICTS = 6
WAKINGS = 8
LATELY = timedelta(days=30)


def light(presences: PresenceQuerySet) -> PresenceQuerySet:
    """Live ones with account and surface, and nothing secret or long."""
    return (
        presences.live()
        .select_related("account__surface")
        .defer("account__sealed_credential", "account__cursor")
        .order_by("account__name")
    )


# ── all of them ───────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    agent: Agent
    standing: Standing
    presences: list[Presence]
    sent: int  # today
    waiting: int  # for a person
    failed: int  # undecided
    money: Bar


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    rows: list[Listed]
    house: list[Bar]
    budget: HouseBudget
    following: str  # the slug the next page begins after, or ""


def page(
    found: QuerySet[Agent],
    pauses: Iterable[Pause],
    *,
    midnight: datetime,
    now: datetime,
    reach: Reach = WHOLE,
) -> Page:
    """The first of these by slug. Six queries."""
    found = found.select_related("settings").defer("persona").prefetch_related("brains")
    agents = list(found.order_by("slug")[: SIZE + 1])
    is_full, agents = len(agents) > SIZE, agents[:SIZE]
    spoken, kept = _presences(agents, reach), books([agent.slug for agent in agents], now=now)
    drafts, house = _drafts(agents, midnight, reach), house_budget()
    shared = bars(kept, HOUSE, house, now=now)
    pauses = list(pauses)
    rows = []
    for agent in agents:
        mine = bars(kept, owner_of(agent.slug), agent.settings, now=now)
        here = spoken[agent.pk]
        rows.append(
            Listed(
                agent=agent,
                standing=standing(agent, here, pauses, [*mine, *_of_all(shared)], now=now),
                presences=here,
                money=mine[0],
                sent=drafts[agent.slug, "sent"],
                waiting=drafts[agent.slug, "waiting"],
                failed=drafts[agent.slug, "failed"],
            )
        )
    return Page(
        rows=rows,
        house=shared,
        budget=house,
        following=agents[-1].slug if is_full else "",
    )


def _of_all(shared: Iterable[Bar]) -> list[Bar]:
    """Named so that nobody takes them for the agent's own."""
    return [replace(bar, label=f"Budget of all agents, {bar.label}") for bar in shared]


def house_budget() -> HouseBudget:
    """The row, or what it will say when it is made: reading writes nothing."""
    return HouseBudget.objects.filter(pk=1).first() or HouseBudget()


def _presences(agents: Sequence[Agent], reach: Reach) -> dict[int, list[Presence]]:
    found: dict[int, list[Presence]] = defaultdict(list)
    rows = reach.narrow(Presence.objects.filter(agent__in=agents), agent="")
    for presence in light(rows):
        found[presence.agent_id].append(presence)
    return found


def _drafts(agents: Sequence[Agent], midnight: datetime, reach: Reach) -> Counter[tuple[str, str]]:
    """Sent since midnight; waiting and failed, whenever they were written."""
    rows = Draft.objects.filter(agent__in=[agent.slug for agent in agents]).order_by()
    rows = rows.filter(
        Q(state=State.SENT, sent_at__gte=midnight) | Q(state__in=[State.WAITING, State.FAILED])
    )
    counts = reach.narrow(rows).values_list("agent", "state").annotate(count=Count("pk"))
    return Counter({(slug, state): count for slug, state, count in counts})


# ── one of them ───────────────────────────────────────────────────────────

# The limits of all agents come along with its presences, so they cost no query of their own.
_LIMITS = [f"{what}_per_{period}" for what in ("money", "tokens") for period in Period]
_HOUSE_LIMITS = {
    f"house_{limit}": Subquery(HouseBudget.objects.filter(pk=1).values(limit)) for limit in _LIMITS
}


def _house_beside(presence: Presence) -> HouseBudget:
    """As `house_budget`, from what the query of the presences brought along."""
    limits = {limit: getattr(presence, f"house_{limit}") for limit in _LIMITS}
    return HouseBudget(**{name: most for name, most in limits.items() if most is not None})


@dataclass(frozen=True, kw_only=True, slots=True)
class Today:
    """What it did, and what its limits count."""

    sent: int
    waiting: int
    failed: int
    replies: Bar


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    """What people thought of its words lately."""

    last: list[Draft]
    approved: int
    judged: int

    @property
    def share(self) -> float | None:
        return self.approved / self.judged if self.judged else None


class One:
    """One agent for its pages. Each part is asked for when a template first looks at it."""

    def __init__(
        self,
        agent: Agent,
        pauses: Iterable[Pause],
        *,
        midnight: datetime,
        now: datetime,
        reach: Reach = WHOLE,
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
        return books([self.agent.slug], now=self.now)

    @cached_property
    def bars(self) -> list[Bar]:
        return bars(self._books, owner_of(self.agent.slug), self.agent.settings, now=self.now)

    @property
    def meters(self) -> list[Bar]:
        """Budgets, then the limit of its own day."""
        return [*self.bars, self.today.replies]

    @property
    def initials(self) -> str:
        return initials(self.agent.name)

    @cached_property
    def standing(self) -> Standing:
        limits = [*self.bars, *self._shared]
        return standing(self.agent, self.presences, self._pauses, limits, now=self.now)

    @property
    def _shared(self) -> list[Bar]:
        """Budgets of all agents: they hold up who speaks somewhere, and no template."""
        if self.agent.settings.voice != VoiceKind.MODEL or not self.presences:
            return []
        house = _house_beside(self.presences[0])
        return _of_all(bars(self._books, HOUSE, house, now=self.now))

    @property
    def places(self) -> list[str]:
        """Names of the surfaces it speaks on, each once."""
        return list(dict.fromkeys(presence.account.surface.name for presence in self.presences))

    @property
    def modes(self) -> list[str]:
        return sorted({presence.effective_mode for presence in self.presences})

    @cached_property
    def today(self) -> Today:
        return _today(self.agent, midnight=self.midnight, now=self.now, reach=self._reach)

    @cached_property
    def verdicts(self) -> Verdicts:
        return _verdicts(self.agent, now=self.now, reach=self._reach)

    @cached_property
    def wakings(self) -> list[Waking]:
        rows = Activation.objects.filter(agent=self.agent)
        rows = self._reach.narrow(rows, account="presence__account", agent="")
        return [Waking(row, self.now) for row in rows.order_by("-id")[:WAKINGS]]

    @cached_property
    def waits(self) -> list[Waits]:
        return waits(self.agent, now=self.now, reach=self._reach)


def _today(agent: Agent, *, midnight: datetime, now: datetime, reach: Reach) -> Today:
    """Replies are counted as the decision counts them: what waits unsent may leave today.

    Those of all accounts, whoever looks: the limit is the agent's.
    """
    here = Q() if reach.accounts is None else Q(account__in=reach.accounts)
    begin, end = day_of(now, agent.zone)
    counts_today = Q(sent_at=None) | Q(sent_at__gte=begin)
    found = Draft.objects.by_agent(agent.slug).aggregate(
        sent=Count("pk", filter=here & Q(state=State.SENT, sent_at__gte=midnight)),
        waiting=Count("pk", filter=here & Q(state=State.WAITING)),
        failed=Count("pk", filter=here & Q(state=State.FAILED)),
        replies=Count("pk", filter=Q(what=What.REPLY) & ~Q(state__in=DEAD) & counts_today),
    )
    replies = Bar(
        label="Replies today",
        used=Decimal(found.pop("replies")),
        most=Decimal(agent.settings.replies_per_day),
        unit="replies",
        until=end,
        note="" if agent.timezone == "UTC" else f"its day ends at 00:00 {agent.timezone}",
    )
    return Today(replies=replies, **found)


def _verdicts(agent: Agent, *, now: datetime, reach: Reach) -> Verdicts:
    """The last ones, and in the same query how many of all lately were a yes."""
    good = Q(judged__in=[Judged.AS_WRITTEN, Judged.EDITED])
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
    return Verdicts(last=last, approved=approved, judged=judged)


def free_accounts() -> list[Account]:
    """Accounts that nobody speaks through."""
    taken = Presence.objects.live().filter(account=OuterRef("pk"))
    found = Account.objects.filter(~Exists(taken)).select_related("surface")
    return list(found.defer("sealed_credential", "cursor"))
