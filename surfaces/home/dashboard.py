"""Data of Home. Each part is queried when a template first uses it, and once for all panels."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import CharField, Count, DateTimeField, F, Max, Q, Sum, Value
from django.db.models.functions import Cast, TruncHour
from django.utils import timezone
from django.utils.functional import cached_property

from surfaces.accounts import rate_limit_usage
from surfaces.desk import queue
from surfaces.drafts.models import Draft, DraftState
from surfaces.extension_points import extensions
from surfaces.home import onboarding, surface_status
from surfaces.home.frame import PageFrame
from surfaces.watcher.models import WatchRound
from surfaces.web.requests import OperatorRequest
from surfaces.workers import status
from surfaces.workers.models import Worker

HOURS = 12  # of what was sent, in a line
DAY = 24  # hours of what came in, in a line
OPEN = [
    DraftState.WAITING, DraftState.FAILED, DraftState.APPROVED, DraftState.SENDING,
    DraftState.UNKNOWN,
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class HomePanel:
    """A panel that an extension adds to Home. `place`: "main" or "side"."""

    template: str
    context: dict[str, Any]
    place: str = "main"


@dataclass(frozen=True, kw_only=True, slots=True)
class Intake:
    """Results of polls: new messages by hour, and spam since midnight."""

    hours: list[int]
    spam: int
    last_round: datetime | None


class IntakeCount(NamedTuple):
    """One row of figures: of drafts or polls, by agent or account, by hour."""

    what: str  # "draft" or "round"
    name: str  # an agent's slug, or an account's id
    state: str
    hour: datetime | None
    n: int
    bad: int  # spam among them
    last: datetime | None


class Dashboard:
    """The dashboard for one operator at one time."""

    def __init__(self, request: OperatorRequest, now: datetime) -> None:
        self.request, self.now = request, now
        self.user, self.reach = request.user, request.user.reach
        self.shell = PageFrame(request)
        self.midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)

    @property
    def total_words(self) -> str:
        is_capped = any(need.waiting.count >= queue.MOST_COUNTED for need in self.shell.needs)
        return f"{self.shell.total:,}+" if is_capped else f"{self.shell.total:,}"

    @property
    def waited(self) -> timedelta | None:
        """How long the oldest item has waited."""
        oldest = self.shell.oldest
        return None if oldest is None else max(self.now - oldest, timedelta())

    @property
    def expiring(self) -> int:
        """Items that expire within the hour."""
        return sum(need.waiting.expiring for need in self.shell.needs)

    @property
    def next_expiry(self) -> datetime | None:
        return min(filter(None, (need.waiting.soonest for need in self.shell.needs)), default=None)

    @cached_property
    def places(self) -> list[surface_status.SurfaceStatus]:
        """All surfaces with their state."""
        accounts, pauses = self.shell.accounts, self.shell.pauses
        budgets = rate_limit_usage.rate_limit_usage(accounts, now=self.now)
        by_account = {pk: came.hours for pk, came in self.came.items()}
        return surface_status.surface_statuses(accounts, pauses, budgets, by_account, now=self.now)

    @property
    def in_need(self) -> int:
        return sum(place.needs_person for place in self.places)

    @property
    def sending(self) -> int:
        """Number of surfaces that can send."""
        return sum(place.may_send for place in self.places)

    @cached_property
    def running(self) -> list[status.WorkerGroup]:
        return status.worker_groups(Worker.objects.all(), self.now)

    @cached_property
    def hours(self) -> list[datetime]:
        """Starts of the last hours; the current one is the last."""
        return hours_until(self.now, HOURS)

    @cached_property
    def _figures(self) -> list[IntakeCount]:
        """Figures of polls and drafts, in one query."""
        # Sent drafts also of the hours before midnight.
        drafts = self.reach.narrow(Draft.objects.all()).filter(
            Q(state__in=OPEN)
            | Q(state=DraftState.SENT, sent_at__gte=min(self.midnight, self.hours[0]))
            | Q(state=DraftState.SHADOWED, made_at__gte=self.midnight)
        )
        rounds = WatchRound.objects.filter(account__in=[each.pk for each in self.shell.accounts])
        rounds = rounds.since(min(hours_until(self.now, DAY)[0], self.midnight))
        account = Cast("account_id", CharField())
        by_draft = self._grouped(drafts, "draft", F("agent"), F("state"), "sent_at").annotate(
            n=Count("pk"), bad=Value(0), last=Value(None, DateTimeField())
        )
        by_round = self._grouped(rounds, "round", account, Value(""), "started_at").annotate(
            n=Sum("stored"), bad=Sum("spam"), last=Max("started_at")
        )
        return [IntakeCount(*row) for row in by_draft.union(by_round, all=True)]

    def _grouped(self, rows: Any, what: str, name: Any, state: Any, moment: str) -> Any:
        hour = TruncHour(moment, tzinfo=self.user.zone)
        rows = rows.order_by().annotate(of_what=Value(what), name=name, status=state, in_hour=hour)
        return rows.values_list("of_what", "name", "status", "in_hour")

    @cached_property
    def drafts(self) -> Counter[tuple[str, str, datetime | None]]:
        """How many by agent, state and, where sent, hour."""
        drafts = (row for row in self._figures if row.what == "draft")
        return Counter({(row.name, row.state, row.hour): row.n for row in drafts})

    @cached_property
    def sent_today(self) -> Counter[str]:
        """Sent drafts by agent since midnight; those by hand under ""."""
        found: Counter[str] = Counter()
        for (agent, state, hour), n in self.drafts.items():
            if state == DraftState.SENT and hour and hour >= self.midnight:
                found[agent] += n
        return found

    @property
    def on_its_way(self) -> dict[str, int]:
        """Approved drafts that are not sent yet."""
        found = {"approved": 0, "sending": 0, "unknown": 0}
        for (_, state, _), n in self.drafts.items():
            if state in found:
                found[state] += n
        return found

    @cached_property
    def came(self) -> dict[int, Intake]:
        """By account, from the polls of the last day."""
        rows: dict[int, list[IntakeCount]] = {}
        for row in self._figures:
            if row.what == "round":
                rows.setdefault(int(row.name), []).append(row)
        return {account: self._intake(found) for account, found in rows.items()}

    def _intake(self, found: list[IntakeCount]) -> Intake:
        by_hour = {row.hour: row.n for row in found}
        return Intake(
            hours=[by_hour.get(hour, 0) for hour in hours_until(self.now, DAY)],
            spam=sum(row.bad for row in found if row.hour and row.hour >= self.midnight),
            last_round=max((row.last for row in found if row.last), default=None),
        )

    @property
    def last_round(self) -> datetime | None:
        return max(filter(None, (came.last_round for came in self.came.values())), default=None)

    @cached_property
    def first_run(self) -> onboarding.Onboarding | None:
        """Open onboarding steps; None if all are done or dismissed."""
        accounts = self.shell.accounts
        if self.user.first_run_is_over or (accounts and not self.user.may_manage):
            return None
        found = onboarding.look(self.user, has_account=bool(accounts))
        return None if found.is_done else found

    @cached_property
    def panels(self) -> dict[str, list[HomePanel]]:
        found: dict[str, list[HomePanel]] = {"main": [], "side": []}
        for draw in (draw for extension in extensions() for draw in extension.home_panels):
            panel: HomePanel | None = draw(self)
            if panel:
                found[panel.place].append(panel)
        return found


def hours_until(now: datetime, count: int) -> list[datetime]:
    """The beginnings of the last `count` hours of this zone, in UTC, the oldest first."""
    this = timezone.localtime(now).replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    return [this - timedelta(hours=back) for back in reversed(range(count))]
