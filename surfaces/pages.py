"""What every full page shows around its own content: places, counts, pauses.

Everything here is asked for when a template first looks at it, in at most three
queries however much there is; a fragment that shows none of it pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surfaces import pausing, reaching
from surfaces.desk import kinds, queue
from surfaces.desk.kinds import Kind
from surfaces.desk.queue import Waiting
from surfaces.models import Account, Notice, Operator, Pause, Surface
from surfaces.reach import Reach
from surfaces.requests import OperatorRequest

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Need:
    """What waits of one kind, and where to decide on it."""

    kind: Kind
    waiting: Waiting

    @property
    def url(self) -> str:
        return f"{reverse('surfaces:desk')}?kind={self.kind.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One entry of the menu."""

    name: str
    label: StrOrPromise
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
        return queue.capped(self.count)


MESSAGE_ACTS = {"answer", "mark_spam", "mark_clean", "unmark", "try_again"}
DRAFT_ACTS = {
    "approve", "edit", "withdraw", "send_back", "retry", "settle_there", "settle_absent", "retract",
}  # fmt: skip
DESK_ACTS = {"desk_rows", "desk_bulk", "desk_undo", "desk_act", "desk_later"}
ACCOUNT_PAGES = {"account", "change_account", "surface_settings"}
SETTINGS_PAGES = {
    *("house_settings", "components", "operators", "new_operator", "operator", "keys", "new_key"),
    *("notice_rules", "notice_rule", "add_notice_rule"),
}
# name, label, icon, key after "g", and the pages that belong to it
PLACES = [
    ("home", gettext_lazy("Home"), "home", "h", set[str]()),
    ("desk", gettext_lazy("Desk"), "desk", "d", {"desk_item", *DESK_ACTS}),
    ("messages", gettext_lazy("Messages"), "chat", "m", {"message", *MESSAGE_ACTS}),
    ("threads", gettext_lazy("Threads"), "thread", "t", {"thread"}),
    ("drafts", gettext_lazy("Drafts"), "pen", "r", {"draft", "new_post", *DRAFT_ACTS}),
    ("spam_filter", gettext_lazy("Spam filter"), "spam", "f", {"spam_words"}),
    ("surfaces", gettext_lazy("Surfaces"), "surface", "s", {"surface", *ACCOUNT_PAGES}),
    ("ledger", gettext_lazy("Ledger"), "ledger", "l", set[str]()),
    ("settings", gettext_lazy("Settings"), "gear", "e", SETTINGS_PAGES),
]
TABS = ["home", "desk", "threads"]


NOTICES = "notices"


class Shell:
    """The frame of a page, for whoever is signed in."""

    def __init__(self, request: OperatorRequest) -> None:
        self._request, self._user = request, request.user
        match = request.resolver_match
        self._here = (match.url_name or "") if match and match.app_name == "surfaces" else ""

    @cached_property
    def waiting(self) -> dict[str, Waiting]:
        """By kind. The desk counts its views in the same query and leaves the numbers here."""
        counted: dict[str, Waiting] | None = getattr(self._request, "waiting", None)
        return counted if counted is not None else queue.counts(self.reach, also=also(self._user))

    @cached_property
    def reach(self) -> Reach:
        return self._user.reach

    @cached_property
    def pauses(self) -> list[Pause]:
        return reaching.pauses_within(self.reach, pausing.live(), lambda: self.accounts)

    @cached_property
    def all_paused(self) -> Pause | None:
        return next((pause for pause in self.pauses if pause.scope == "all"), None)

    @cached_property
    def accounts(self) -> list[Account]:
        seen: list[Account] | None = getattr(self._user, "accounts_seen", None)
        return list(Account.objects.select_related("surface")) if seen is None else seen

    @cached_property
    def surfaces(self) -> list[Surface]:
        found = {account.surface_id: account.surface for account in self.accounts}
        return sorted(found.values(), key=lambda surface: surface.name.lower())

    @property
    def suspects_url(self) -> str:
        return reverse("surfaces:desk") + "?kind=suspect"

    @cached_property
    def needs(self) -> list[Need]:
        """What waits for a person, by kind; only kinds that have something."""
        found = [Need(kind, self.waiting[name]) for name, kind in kinds.kinds().items()]
        return [need for need in found if need.waiting.count]

    @property
    def unread(self) -> Waiting:
        """Notices nobody read yet."""
        return self.waiting.get(NOTICES, Waiting())

    @property
    def total(self) -> int:
        return sum(need.waiting.count for need in self.needs)

    @property
    def total_words(self) -> str:
        return queue.capped(self.total)

    @property
    def oldest(self) -> datetime | None:
        return min((n.waiting.oldest for n in self.needs if n.waiting.oldest), default=None)

    @cached_property
    def places(self) -> list[Place]:
        trouble = self.waiting["account"].count if "account" in self.waiting else 0
        counts: dict[str, Any] = {
            "desk": {"count": self.total, "counted": _("waiting"), "is_urgent": True},
            "surfaces": {"count": trouble, "counted": _("in trouble"), "is_urgent": True},
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
        return [*tabs, Place(name="more", label=_("More"), icon="more", key="", is_here=is_more)]


def also(user: Operator) -> dict[str, QuerySet[Notice]]:
    """What else the frame of a page counts, in the query that counts what waits."""
    return {NOTICES: Notice.objects.filter(operator=user).unread().within_reach(user)}


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor."""
    user = getattr(request, "user", None)
    return (
        {"shell": Shell(cast("OperatorRequest", request))} if user and user.is_authenticated else {}
    )
