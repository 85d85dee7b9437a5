"""List drafts for the pages: tabs by state, pages, the next draft."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, Value
from django.db.models.functions import Left
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.drafts.models import Draft, DraftState
from surfaces.messages.models import beginning
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.web.pagination import KeysetPage, paginate

MOST_COUNTED = 1_000
EXCERPT = 280
# The tabs: label, states, and whether a count is shown.
TABS = {
    "waiting": (_lazy("Waiting"), [DraftState.WAITING, DraftState.COMPOSED], True),
    "changed": (_lazy("Stale"), [DraftState.WAITING], True),
    "under_way": (_lazy("Sending"), [DraftState.APPROVED, DraftState.SENDING], True),
    "unknown": (_lazy("Unconfirmed"), [DraftState.UNKNOWN], True),
    "failed": (_lazy("Failed"), [DraftState.FAILED], True),
    "sent": (_lazy("Sent"), [DraftState.SENT], False),
    "withdrawn": (_lazy("Withdrawn"), [DraftState.WITHDRAWN], False),
    "shadowed": (_lazy("Shadow"), [DraftState.SHADOWED], False),
    "all": (_lazy("All"), list(DraftState), False),
}
# What a tab lists, said while it is empty.
EMPTY = {
    "under_way": _lazy("An approved draft is listed here until it is sent."),
    "unknown": _lazy("A draft is listed here when the surface gave no clear answer to a send."),
    "failed": _lazy("A draft is listed here when it could not be sent."),
    "sent": _lazy("A draft is listed here after it was sent."),
    "withdrawn": _lazy(
        "A draft is listed here after it was rejected, withdrawn or sent back, or when it expired."
    ),
    "shadowed": _lazy("A reply that is written in shadow mode is listed here. It is never sent."),
}
FIRST = "waiting"
CHANGED = "changed"  # waiting drafts that are stale

IN_LIST = (
    *("agent", "origin", "state", "needs_person", "community", "title", "why", "stale_why"),
    *("made_at", "account__name"),
    *(f"target__{name}" for name in ("author", "author_is_bot", "direction")),
)


@dataclass(frozen=True, slots=True)
class DraftTab:
    name: str
    label: str | Promise
    count: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftPage(KeysetPage[Draft]):
    tab: str
    label: str | Promise
    note: str = ""

    @property
    def empty_text(self) -> str | Promise:
        return EMPTY.get(self.tab, "")


def tabs(reach: Scope = UNRESTRICTED) -> list[DraftTab]:
    """All tabs with counts, in one query that counts up to 1,000."""
    parts = [
        reach.narrow(_in_tab(name, [state])).order_by().annotate(tab=Value(name)).values_list("tab")
        for name, (_, states, is_counted) in TABS.items()
        for state in states
        if is_counted
    ]
    parts = [part[:MOST_COUNTED] for part in parts]
    found = Counter(row[0] for row in parts[0].union(*parts[1:], all=True))
    return [
        DraftTab(name, label, _capped(found[name]) if is_counted else "")
        for name, (label, _, is_counted) in TABS.items()
    ]


def _capped(count: int) -> str:
    return f"{MOST_COUNTED:,}+" if count >= MOST_COUNTED else f"{count:,}"


def _in_tab(tab: str, states: Sequence[DraftState]) -> QuerySet[Draft]:
    if tab == CHANGED:
        return Draft.objects.stale()
    return Draft.objects.all() if tab == "all" else Draft.objects.filter(state__in=states)


def list_drafts(tab: str, given: Mapping[str, str], *, reach: Scope = UNRESTRICTED) -> DraftPage:
    note = "" if tab in TABS or not tab else _("Unknown state. Waiting drafts are shown instead.")
    tab = tab if tab in TABS else FIRST
    label, states, _is_counted = TABS[tab]
    rows = reach.narrow(_in_tab(tab, states)).select_related("account", "target").only(*IN_LIST)
    excerpts = {"excerpt": Left("text", EXCERPT), "question": beginning("target__content", EXCERPT)}
    found = paginate(rows.annotate(**excerpts), given, keep={"state": tab})
    return DraftPage(found.rows, found.newer, found.older, tab=tab, label=label, note=note)


def after(draft: Draft, reach: Scope = UNRESTRICTED) -> Draft | None:
    """The next draft to decide on: the oldest waiting after this one, else the oldest."""
    waiting = reach.narrow(Draft.objects.waiting()).exclude(pk=draft.pk).only("pk")
    behind = ExpressionWrapper(Q(pk__gt=draft.pk), output_field=BooleanField())
    return waiting.order_by(behind.desc(), "pk").first()
