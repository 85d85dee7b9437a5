"""Frame of every page: navigation, counts, pauses.

Parts are queried when a template first uses them, in at most three queries; fragments that
use none run no query.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.desk import kinds, queue
from surfaces.desk.kinds import DeskKind
from surfaces.desk.queue import WaitingCounts
from surfaces.extension_points import NavLink, extensions
from surfaces.notices.models.notice import Notice
from surfaces.operators.models.operator import Operator
from surfaces.operators.scope import Scope
from surfaces.pauses import scope
from surfaces.pauses import services as pause_services
from surfaces.pauses.models import Pause
from surfaces.web.requests import OperatorRequest

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting items of one kind, and the URL to decide on them."""

    kind: DeskKind
    waiting: WaitingCounts

    @property
    def url(self) -> str:
        return f"{reverse('surfaces:desk')}?kind={self.kind.name}"


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of the menu."""

    view: str
    label: StrOrPromise
    icon: str
    key: str
    is_here: bool
    count: int = 0
    counted: str = ""
    is_urgent: bool = False

    @property
    def name(self) -> str:
        return self.view.split(":")[1]

    @property
    def url(self) -> str:
        return reverse(self.view)

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
    ("ledger", gettext_lazy("Audit log"), "ledger", "l", set[str]()),
    ("settings", gettext_lazy("Settings"), "gear", "e", SETTINGS_PAGES),
]
TABS = ["home", "desk", "threads"]
NOTICES = "notices"


class PageFrame:
    """The page frame for the signed-in operator."""

    def __init__(
        self, request: OperatorRequest, waiting: dict[str, WaitingCounts] | None = None
    ) -> None:
        """`waiting`: what a view counted itself, together with something else."""
        self._user = request.user
        if waiting is not None:
            self.waiting = waiting
        match = request.resolver_match
        self._here = match.view_name if match else ""

    @cached_property
    def waiting(self) -> dict[str, WaitingCounts]:
        """By kind."""
        return queue.counts(self.reach, also=also(self._user))

    @cached_property
    def reach(self) -> Scope:
        return self._user.reach

    @cached_property
    def pauses(self) -> list[Pause]:
        return scope.pauses_within(self.reach, pause_services.live(), lambda: self.accounts)

    @cached_property
    def all_paused(self) -> Pause | None:
        return next((pause for pause in self.pauses if pause.scope == "all"), None)

    @cached_property
    def accounts(self) -> list[Account]:
        seen: list[Account] | None = getattr(self._user, "accounts_seen", None)
        return list(Account.objects.select_related("surface")) if seen is None else seen

    @cached_property
    def surfaces_to_pause(self) -> list[Surface]:
        """Those without an account that this operator does not see."""
        whole = scope.surfaces_to_pause(self.accounts)
        return [surface for surface in self.surfaces if surface.pk in whole]

    @cached_property
    def surfaces(self) -> list[Surface]:
        found = {account.surface_id: account.surface for account in self.accounts}
        return sorted(found.values(), key=lambda surface: surface.name.lower())

    @cached_property
    def needs(self) -> list[Backlog]:
        """Waiting items by kind; only kinds with items."""
        found = [Backlog(kind, self.waiting[name]) for name, kind in kinds.kinds().items()]
        return [need for need in found if need.waiting.count]

    @property
    def unread(self) -> WaitingCounts:
        """Number of unread notifications."""
        return self.waiting.get(NOTICES, WaitingCounts())

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
    def places(self) -> list[NavItem]:
        trouble = self.waiting["account"].count if "account" in self.waiting else 0
        counts: dict[str, Any] = {
            "desk": {"count": self.total, "counted": _("need a decision"), "is_urgent": True},
            "surfaces": {"count": trouble, "counted": _("with errors"), "is_urgent": True},
        }
        found = []
        for name, label, icon, key, inside in PLACES:
            view = f"surfaces:{name}"
            is_here = self._here in {view, *(f"surfaces:{page}" for page in inside)}
            is_here |= name == "surfaces" and self._here in connect_views()
            found.append(NavItem(view, label, icon, key, is_here, **counts.get(name, {})))
            if name == "drafts":
                found += [
                    NavItem(link.view, link.label, link.icon, link.key, self._is_in(link))
                    for link in nav_links()
                ]
        return found

    def _is_in(self, link: NavLink) -> bool:
        """Whether this page belongs to an entry of the floors above."""
        if self._here in {link.view, *link.pages}:
            return True
        # Every page of that floor without an entry of its own belongs to its first entry.
        others = {view for other in nav_links() for view in (other.view, *other.pages)}
        # The ground floor has none: an extension of its own adds entries beside its places.
        app = link.view.split(":")[0]
        is_first = link == next(each for each in nav_links() if each.view.startswith(f"{app}:"))
        is_above = app != "surfaces" and self._here.startswith(f"{app}:")
        return is_first and is_above and self._here not in others | connect_views()

    @cached_property
    def tabs(self) -> list[NavItem]:
        by_name = {place.name: place for place in self.places}
        added = [link.view.split(":")[1] for link in nav_links() if link.is_tab]
        tabs = [by_name[name] for name in (*TABS, *added)]
        is_more = not any(tab.is_here for tab in tabs)
        return [*tabs, NavItem("surfaces:more", _("More"), "more", "", is_more)]


def nav_links() -> list[NavLink]:
    """The menu entries of the floors above."""
    return [link for extension in extensions() for link in extension.nav_items]


def connect_views() -> set[str]:
    return {extension.connect_view for extension in extensions() if extension.connect_view}


def also(user: Operator) -> dict[str, QuerySet[Notice]]:
    """Other counts of the frame, in the same query as waiting items."""
    return {NOTICES: Notice.objects.filter(operator=user).unread().within_reach(user)}


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor."""
    user = getattr(request, "user", None)
    if not user or not user.is_authenticated:
        return {}
    return {"shell": PageFrame(cast("OperatorRequest", request))}
