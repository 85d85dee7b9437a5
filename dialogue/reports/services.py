"""Count what agents saw and did, by agent, account and hour. Idempotent.

Everything is computed from stored rows, so a second run, or one after a crash, changes nothing.
Rows that arrive late still count, until notices were made of their report.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber, TruncHour

from dialogue.activations.models import ActivationState, ItemState
from dialogue.approvals.models import ToolCallState
from dialogue.inbox.models import UNREAD, NotificationOutcome
from dialogue.models import (
    Activation,
    ActivationItem,
    Agent,
    AgentReport,
    Notification,
    ToolCall,
)
from dialogue.reports.models import COUNTS
from surfaces.drafts.models import DraftState
from surfaces.models import Draft
from surfaces.text.format import one_line

HOUR = timedelta(hours=1)
WINDOW = timedelta(hours=24)
MOST_LINKS = 5  # of each count
LONGEST = 80  # characters of a title
Key = tuple[int, int, datetime]  # agent, account, hour


@dataclass(slots=True)
class HourFacts:
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    links: list[dict[str, Any]] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, Any]:
        return {**self.counts, "links": self.links}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """Rows that count as `what`, where they lead, and in which columns their key stands."""

    what: str
    kind: str  # of the link
    rows: QuerySet[Any]
    at: str
    agent: str
    account: str
    title: str
    link: str = "pk"


def hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


@transaction.atomic
def collect_reports(*, now: datetime) -> int:
    """Write the reports of the last 24 hours; return how many changed. Thirteen queries at most."""
    window = AgentReport.objects.filter(hour__gte=hour_of(now - WINDOW))
    rows = window.select_for_update(no_key=True).order_by("pk")
    kept = {(row.agent_id, row.account_id, row.hour): row for row in rows}
    found = _found(now)
    new = [
        AgentReport(agent_id=agent, account_id=account, hour=hour, **hour_facts.facts)
        for (agent, account, hour), hour_facts in found.items()
        if (agent, account, hour) not in kept
    ]
    # Another process may have made the same: it counts again in a few minutes.
    AgentReport.objects.bulk_create(new, ignore_conflicts=True)
    untold = {key: row for key, row in kept.items() if row.told_at is None}
    changed = [row for key, row in untold.items() if _takes(row, found.get(key, HourFacts()))]
    AgentReport.objects.bulk_update(changed, [*COUNTS, "links"], batch_size=500)
    empty = [row.pk for row in changed if not any(getattr(row, name) for name in COUNTS)]
    AgentReport.objects.filter(pk__in=empty).delete()
    return len(new) + len(changed)


def _takes(row: AgentReport, found: HourFacts) -> bool:
    """Set what was found; whether that changes anything."""
    before = {name: getattr(row, name) for name in found.facts}
    for name, value in found.facts.items():
        setattr(row, name, value)
    return before != found.facts


def _found(now: datetime) -> dict[Key, HourFacts]:
    found: dict[Key, HourFacts] = defaultdict(HourFacts)
    for source in _sources():
        for row in _first(source, now):
            facts = found[row["of_agent"], row["of_account"], row["hour"]]
            if row["place"] == 1:
                facts.counts[source.what] += row["count"]
            facts.links += _link(source, row)
    return dict(found)


def _link(source: _Source, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if source.kind and row["leads_to"]:
        words = one_line(row["words"] or "", LONGEST)
        yield {"what": source.what, "kind": source.kind, "id": row["leads_to"], "words": words}


def _first(source: _Source, now: datetime) -> QuerySet[Any, dict[str, Any]]:
    """The newest rows of each agent, account and hour, with how many there are."""
    # A clock that ran ahead reports nothing before its time.
    recent = {f"{source.at}__gte": hour_of(now - WINDOW), f"{source.at}__lte": now}
    rows = source.rows.filter(**recent).annotate(
        hour=TruncHour(source.at, tzinfo=UTC), of_agent=F(source.agent),
        of_account=F(source.account), leads_to=F(source.link), words=F(source.title),
    )  # fmt: skip
    key = [F("of_agent"), F("of_account"), F("hour")]
    rows = rows.annotate(
        place=Window(RowNumber(), partition_by=key, order_by="-pk"),
        count=Window(Count("pk"), partition_by=key),
    )
    most = MOST_LINKS if source.kind else 1
    wanted = ("of_agent", "of_account", "hour", "leads_to", "words", "place", "count")
    found: QuerySet[Any, dict[str, Any]] = (
        rows.filter(place__lte=most).order_by("-pk").values(*wanted)
    )
    return found


def _sources() -> Iterator[_Source]:
    """One query each."""
    notified = {"agent": "agent", "account": "presence__account", "title": "message__post__title"}
    notifications = Notification.objects.all()
    yield _Source(what="seen", kind="", rows=notifications, at="made_at", **notified)
    passed = Q(outcome=NotificationOutcome.PASSED) | (UNREAD & Q(verdict="suspect"))
    yield _Source(
        what="held", kind="message", rows=notifications.filter(passed), at="considered_at",
        link="message", **notified,
    )  # fmt: skip
    yield from _drafts()
    called = {"agent": "agent", "account": "presence__account", "title": "tool"}
    waiting = ToolCall.objects.filter(state=ToolCallState.WAITING)
    yield _Source(what="waiting", kind="tool_call", rows=waiting, at="made_at", **called)
    yield from _failures()


def _drafts() -> Iterator[_Source]:
    agents = Agent.objects.filter(slug=OuterRef("agent"))
    written = Draft.objects.exclude(agent="").annotate(by=agents.values("pk")[:1])
    written = written.exclude(by=None)
    said = {"kind": "draft", "agent": "by", "account": "account", "title": "target__post__title"}
    for what, rows in (
        ("answered", written),
        ("waiting", written.filter(state=DraftState.WAITING)),
        ("failed", written.filter(state=DraftState.FAILED)),
    ):
        yield _Source(what=what, rows=rows, at="made_at", **said)


def _failures() -> Iterator[_Source]:
    """Attempts that failed: of what an activation looked at, or of the whole of it."""
    title = "notification__message__post__title"
    items = ActivationItem.objects.filter(state=ItemState.FAILED)
    yield _Source(
        what="failed", kind="activation", rows=items, at="ended_at", agent="activation__agent",
        account="activation__presence__account", title=title, link="activation",
    )  # fmt: skip
    counted = items.filter(activation=OuterRef("pk"))
    whole = Activation.objects.filter(~Exists(counted), state=ActivationState.FAILED)
    yield _Source(
        what="failed", kind="activation", rows=whole, at="ended_at", agent="agent",
        account="presence__account", title=title,
    )  # fmt: skip
