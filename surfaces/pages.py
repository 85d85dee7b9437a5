"""What every full page shows around its own content: places, counts, pauses.

Everything here is asked for when a template first looks at it, in at most three
queries however much there is; a fragment that shows none of it pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Min, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse

from surfaces import pausing
from surfaces.models import Account, Draft, Message, Pause, Surface

MOST_COUNTED = 1000  # beyond this, "999+" says enough


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many of one kind wait for a person, and since when the oldest does."""

    count: int = 0
    oldest: datetime | None = None

    @property
    def words(self) -> str:
        return capped(self.count)


@dataclass(frozen=True, slots=True)
class Need:
    """One line of home: what waits, how much, where to go."""

    label: str
    icon: str
    css: str
    url: str
    waiting: Waiting
    badge: str = ""

    @property
    def words(self) -> str:
        return self.waiting.words

    @property
    def oldest(self) -> datetime | None:
        return self.waiting.oldest


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One entry of the menu."""

    name: str
    label: str
    icon: str
    key: str
    is_here: bool
    count: int = 0
    counted: str = ""
    is_urgent: bool = False

    @property
    def url(self) -> str:
        return reverse(f"surfaces:{self.name}")

    @property
    def count_words(self) -> str:
        return capped(self.count)


MESSAGE_ACTS = {"answer", "mark_spam", "mark_clean", "unmark", "try_again"}
DRAFT_ACTS = {
    "approve", "edit", "withdraw", "send_back", "retry", "settle_there", "settle_absent", "retract",
}  # fmt: skip
# name, label, icon, key after "g", and the pages that belong to it
PLACES = [
    ("home", "Home", "home", "h", set[str]()),
    ("messages", "Messages", "desk", "m", {"message", *MESSAGE_ACTS}),
    ("threads", "Threads", "thread", "t", {"thread"}),
    ("drafts", "Drafts", "pen", "d", {"draft", "new_post", *DRAFT_ACTS}),
    ("spam_filter", "Spam filter", "spam", "f", set[str]()),
    ("surfaces", "Surfaces", "surface", "s", {"surface", "account", "change_account"}),
    ("ledger", "Ledger", "ledger", "l", set[str]()),
]
TABS = ["home", "messages", "drafts", "threads"]


class Shell:
    """The frame of a page, for whoever is signed in."""

    def __init__(self, request: HttpRequest) -> None:
        match = request.resolver_match
        self._here = (match.url_name or "") if match and match.app_name == "surfaces" else ""

    @cached_property
    def waiting(self) -> dict[str, Waiting]:
        return waiting()

    @cached_property
    def pauses(self) -> list[Pause]:
        return pausing.live()

    @cached_property
    def all_paused(self) -> Pause | None:
        return next((pause for pause in self.pauses if pause.scope == "all"), None)

    @cached_property
    def accounts(self) -> list[Account]:
        return list(Account.objects.select_related("surface"))

    @cached_property
    def surfaces(self) -> list[Surface]:
        found = {account.surface_id: account.surface for account in self.accounts}
        return sorted(found.values(), key=lambda surface: surface.name.lower())

    @property
    def suspects_url(self) -> str:
        return reverse("surfaces:messages") + "?spam_status=suspect"

    @cached_property
    def needs(self) -> list[Need]:
        """What waits for a person, by kind; only kinds that have something."""
        drafts, broken = reverse("surfaces:drafts"), [a for a in self.accounts if a.needs_person]
        trouble = Waiting(len(broken), min((a.state_since for a in broken), default=None))
        look = [
            Need("Drafts to review", "pen", "", drafts, self.waiting["waiting"]),
            Need("Suspect comments", "flag", "wait", self.suspects_url, self.waiting["suspect"]),
            Need("Failed drafts", "fail", "bad", f"{drafts}?state=failed", self.waiting["failed"]),
            Need(
                "Unknown sends", "ask", "info", f"{drafts}?state=unknown",
                self.waiting["needs_person"], "may be out there",
            ),
            Need("Accounts in trouble", "warn", "bad", reverse("surfaces:surfaces"), trouble),
        ]  # fmt: skip
        return [need for need in look if need.waiting.count]

    @property
    def total(self) -> int:
        return sum(need.waiting.count for need in self.needs)

    @property
    def total_words(self) -> str:
        return capped(self.total)

    @property
    def oldest(self) -> datetime | None:
        return min((n.oldest for n in self.needs if n.oldest), default=None)

    @cached_property
    def places(self) -> list[Place]:
        suspects, drafts = self.waiting["suspect"], self.waiting["waiting"]
        trouble = sum(account.needs_person for account in self.accounts)
        counts: dict[str, Any] = {
            "messages": {"count": suspects.count, "counted": "suspect"},
            "drafts": {"count": drafts.count, "counted": "waiting", "is_urgent": True},
            "surfaces": {"count": trouble, "counted": "in trouble", "is_urgent": True},
        }
        return [
            Place(
                name=name, label=label, icon=icon, key=key,
                is_here=self._here == name or self._here in inside, **counts.get(name, {}),
            )
            for name, label, icon, key, inside in PLACES
        ]  # fmt: skip

    @cached_property
    def tabs(self) -> list[Place]:
        by_name = {place.name: place for place in self.places}
        tabs = [by_name[name] for name in TABS]
        is_more = not any(tab.is_here for tab in tabs)
        return [*tabs, Place(name="more", label="More", icon="more", key="", is_here=is_more)]


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor."""
    user = getattr(request, "user", None)
    return {"shell": Shell(request)} if user and user.is_authenticated else {}


def waiting() -> dict[str, Waiting]:
    """Everything that waits for a person, by kind, in one query."""
    parts = [
        _counted("waiting", Draft.objects.waiting().order_by("pk"), "made_at"),
        _counted("failed", Draft.objects.failed().order_by("pk"), "made_at"),
        _counted("needs_person", Draft.objects.needing_person().order_by("pk"), "asked_at"),
        _counted("suspect", Message.objects.suspect().order_by("created_at", "pk"), "created_at"),
    ]
    rows = parts[0].union(*parts[1:], all=True)
    found = {kind: Waiting(count, oldest) for kind, count, oldest in rows}
    return {kind: found.get(kind, Waiting()) for kind in KINDS}


KINDS = ("waiting", "failed", "needs_person", "suspect")


def _counted(kind: str, rows: QuerySet[Any], since: str) -> Any:
    """Count the first of `rows`, a thousand at most, so that a flood costs nothing here."""
    oldest = rows.values("pk")[:MOST_COUNTED]
    return (
        rows.model._default_manager.filter(pk__in=oldest)
        .order_by()
        .annotate(of=Value(kind))
        .values("of")
        .annotate(n=Count("pk"), oldest=Min(since))
        .values_list("of", "n", "oldest")
    )


def capped(count: int) -> str:
    return f"{MOST_COUNTED - 1}+" if count >= MOST_COUNTED else f"{count:,}"
