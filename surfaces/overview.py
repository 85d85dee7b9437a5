"""What home shows: what waits, what the day brought, what runs and what does not.

Each part is asked for when a template or a panel first looks at it. Figures that several
panels need, also those of the floor above, are asked for once and kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import CharField, Count, DateTimeField, F, Max, Q, Sum, Value
from django.db.models.functions import Cast, TruncHour
from django.utils import timezone
from django.utils.module_loading import import_string

from surfaces import first_steps, left, places, running
from surfaces.desk import queue
from surfaces.models import Account, Draft, Pause, WatchRound, Worker
from surfaces.models.draft import State
from surfaces.pages import Need, Shell
from surfaces.requests import OperatorRequest

HOURS = 12  # of what was sent, in a line
DAY = 24  # hours of what came in, in a line
OPEN = [State.WAITING, State.FAILED, State.APPROVED, State.SENDING, State.UNKNOWN]


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """What a floor above adds to home. `place`: "main" or "side"."""

    template: str
    context: dict[str, Any]
    place: str = "main"


@dataclass(frozen=True, kw_only=True, slots=True)
class Came:
    """What rounds brought: new messages by hour, and since midnight the spam among them."""

    hours: list[int]
    spam: int
    last_round: datetime | None


class Figure(NamedTuple):
    """One row of the day's figures: of drafts or of rounds, by whom, of which hour."""

    what: str  # "draft" or "round"
    name: str  # an agent's slug, or an account's id
    state: str
    hour: datetime | None
    n: int
    bad: int  # spam among them
    last: datetime | None


class Home:
    """One look at home: who looks, when, and what they may see."""

    def __init__(self, request: OperatorRequest, now: datetime) -> None:
        self.request, self.now = request, now
        self.user, self.reach = request.user, request.user.reach
        self.shell = Shell(request)
        self.midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)

    # ── what waits ────────────────────────────────────────────────────────

    @property
    def needs(self) -> list[Need]:
        return self.shell.needs

    @property
    def total(self) -> int:
        return sum(need.waiting.count for need in self.needs)

    @property
    def total_words(self) -> str:
        is_capped = any(need.waiting.count >= queue.MOST_COUNTED for need in self.needs)
        return f"{self.total:,}+" if is_capped else f"{self.total:,}"

    @property
    def waited(self) -> timedelta | None:
        """How long the oldest has."""
        oldest = min((n.waiting.oldest for n in self.needs if n.waiting.oldest), default=None)
        return None if oldest is None else max(self.now - oldest, timedelta())

    @property
    def expiring(self) -> int:
        """Within the hour."""
        return sum(need.waiting.expiring for need in self.needs)

    @property
    def next_expiry(self) -> datetime | None:
        return min((n.waiting.soonest for n in self.needs if n.waiting.soonest), default=None)

    # ── what there is ─────────────────────────────────────────────────────

    @property
    def accounts(self) -> list[Account]:
        return self.shell.accounts

    @property
    def pauses(self) -> list[Pause]:
        return self.shell.pauses

    @cached_property
    def places(self) -> list[places.Place]:
        """Every surface we are on, with its state."""
        budgets = left.budgets(self.accounts, now=self.now)
        by_account = {pk: came.hours for pk, came in self.came.items()}
        return places.places(self.accounts, self.pauses, budgets, by_account, now=self.now)

    @property
    def in_need(self) -> int:
        return sum(place.needs_person for place in self.places)

    @property
    def sending(self) -> int:
        """On how many surfaces something may leave."""
        return sum(place.may_send for place in self.places)

    @cached_property
    def running(self) -> list[running.Running]:
        return running.running(Worker.objects.all(), self.now)

    # ── the day ───────────────────────────────────────────────────────────

    @cached_property
    def hours(self) -> list[datetime]:
        """Where each of the last hours begins; the one that runs is the last."""
        return hours_until(self.now, HOURS)

    @cached_property
    def _figures(self) -> list[Figure]:
        """What rounds brought and what became of drafts, in one query."""
        drafts = self._grouped(self._drafts(), "draft", F("agent"), F("state"), "sent_at").annotate(
            n=Count("pk"), bad=Value(0), last=Value(None, DateTimeField())
        )
        account = Cast("account_id", CharField())
        rounds = self._grouped(self._rounds(), "round", account, Value(""), "started_at").annotate(
            n=Sum("stored"), bad=Sum("spam"), last=Max("started_at")
        )
        return [Figure(*row) for row in drafts.union(rounds, all=True)]

    def _grouped(self, rows: Any, what: str, name: Any, state: Any, moment: str) -> Any:
        named = rows.order_by().annotate(
            of_what=Value(what),
            name=name,
            status=state,
            in_hour=TruncHour(moment, tzinfo=self.user.zone),
        )
        return named.values_list("of_what", "name", "status", "in_hour")

    def _drafts(self) -> Any:
        """Open ones, and what left or was held; sent ones also of the hours before midnight."""
        since = min(self.midnight, self.hours[0])
        return self.reach.narrow(Draft.objects.all()).filter(
            Q(state__in=OPEN)
            | Q(state=State.SENT, sent_at__gte=since)
            | Q(state=State.SHADOWED, made_at__gte=self.midnight)
        )

    def _rounds(self) -> Any:
        rows = WatchRound.objects.filter(account__in=[account.pk for account in self.accounts])
        return rows.since(min(hours_until(self.now, DAY)[0], self.midnight))

    @cached_property
    def drafts(self) -> Counter[tuple[str, str, datetime | None]]:
        """How many by agent, state and, where sent, hour."""
        return Counter(
            {(row.name, row.state, row.hour): row.n for row in self._figures if row.what == "draft"}
        )

    @cached_property
    def sent_today(self) -> Counter[str]:
        """By agent, since midnight; what was written by hand is under ""."""
        found: Counter[str] = Counter()
        for (agent, state, hour), n in self.drafts.items():
            if state == State.SENT and hour and hour >= self.midnight:
                found[agent] += n
        return found

    def drafts_in(self, state: str) -> int:
        return sum(n for (_, each, _), n in self.drafts.items() if each == state)

    @property
    def on_its_way(self) -> dict[str, int]:
        """Drafts somebody said yes to that have not arrived."""
        return {state: self.drafts_in(state) for state in ("approved", "sending", "unknown")}

    @cached_property
    def came(self) -> dict[int, Came]:
        """By account, from its rounds of the last day."""
        found = [row for row in self._figures if row.what == "round"]
        return _came(found, hours_until(self.now, DAY), self.midnight)

    @property
    def last_round(self) -> datetime | None:
        return max(
            (came.last_round for came in self.came.values() if came.last_round), default=None
        )

    # ── the first run, and what the floors above add ──────────────────────

    @cached_property
    def first_run(self) -> first_steps.FirstRun | None:
        """What is still to be done before the house works; None when nothing is, or put away."""
        if self.user.first_run_is_over or (self.accounts and not self.user.may_manage):
            return None
        found = first_steps.look(self.user, has_account=bool(self.accounts))
        return None if found.is_done else found

    @cached_property
    def panels(self) -> dict[str, list[Panel]]:
        found: dict[str, list[Panel]] = {"main": [], "side": []}
        for name in settings.HOME_PANELS:
            draw: Callable[[Home], Panel | None] = import_string(name)
            if panel := draw(self):
                found[panel.place].append(panel)
        return found


def hours_until(now: datetime, count: int) -> list[datetime]:
    """The beginnings of the last `count` hours of this zone, in UTC, the oldest first."""
    this = timezone.localtime(now).replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    return [this - timedelta(hours=back) for back in reversed(range(count))]


def _came(figures: Iterable[Figure], hours: list[datetime], midnight: datetime) -> dict[int, Came]:
    rows: dict[int, list[Figure]] = {}
    for row in figures:
        rows.setdefault(int(row.name), []).append(row)
    return {account: _came_of(found, hours, midnight) for account, found in rows.items()}


def _came_of(found: list[Figure], hours: list[datetime], midnight: datetime) -> Came:
    by_hour = {row.hour: row.n for row in found}
    return Came(
        hours=[by_hour.get(hour, 0) for hour in hours],
        spam=sum(row.bad for row in found if row.hour and row.hour >= midnight),
        last_round=max((row.last for row in found if row.last), default=None),
    )


def latest_rounds(accounts: list[Account]) -> dict[int, WatchRound]:
    """The last round of each account, by account id."""
    rows = WatchRound.objects.filter(account__in=accounts).latest_of_each()
    return {row.account_id: row for row in rows}
