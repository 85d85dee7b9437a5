"""The queue of drafts as people read it: by state, a page at a time, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, Value
from django.db.models.functions import Left

from surfaces.errors import BadInput
from surfaces.models import Draft, Message, Operator
from surfaces.models.draft import UNDECIDED, State, What
from surfaces.reach import WHOLE, Reach
from surfaces.showing import span

SIZE = 50
MOST_COUNTED = 1_000
EXCERPT = 280
SLACK = timedelta(minutes=10)  # between our clock and the service's
CANDIDATES = 20  # of our messages offered for "it is there"
# The tabs: what they are called, the states they hold, and whether a person should count them.
TABS = {
    "waiting": ("Waiting", [State.WAITING, State.COMPOSED], True),
    "changed": ("Changed", [State.WAITING], True),
    "under_way": ("On its way", [State.APPROVED, State.SENDING], True),
    "unknown": ("Unknown", [State.UNKNOWN], True),
    "failed": ("Failed", [State.FAILED], True),
    "sent": ("Sent", [State.SENT], False),
    "withdrawn": ("Withdrawn", [State.WITHDRAWN], False),
    "shadowed": ("Shadow", [State.SHADOWED], False),
    "all": ("All", list(State), False),
}
FIRST = "waiting"
CHANGED = "changed"  # of the waiting, those around which something moved


@dataclass(frozen=True, slots=True)
class Tab:
    name: str
    label: str
    count: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    tab: str
    label: str
    rows: list[Draft]
    newer: str
    older: str
    note: str = ""


def tabs(reach: Reach = WHOLE) -> list[Tab]:
    """Every tab; those with work say how much, in one query that counts no further than 1,000."""
    parts = [
        reach.narrow(_in_state(name, state)).order_by().annotate(tab=Value(name)).values_list("tab")
        for name, (_, states, is_counted) in TABS.items()
        for state in states
        if is_counted
    ]
    parts = [part[:MOST_COUNTED] for part in parts]
    found = Counter(row[0] for row in parts[0].union(*parts[1:], all=True))
    return [
        Tab(name, label, _capped(found[name]) if is_counted else "")
        for name, (label, _, is_counted) in TABS.items()
    ]


def _in_state(tab: str, state: State) -> QuerySet[Draft]:
    return Draft.objects.stale() if tab == CHANGED else Draft.objects.filter(state=state)


def _capped(count: int) -> str:
    return f"{MOST_COUNTED:,}+" if count >= MOST_COUNTED else f"{count:,}"


def _held_by(tab: str) -> QuerySet[Draft]:
    if tab == CHANGED:
        return Draft.objects.stale()
    return Draft.objects.all() if tab == "all" else Draft.objects.filter(state__in=TABS[tab][1])


def page(tab: str, before: str = "", after: str = "", *, reach: Reach = WHOLE) -> Page:
    """One page by key, newest first. Keys are ids, and garbage is no key."""
    note = "" if tab in TABS or not tab else "There is no such state; these are the waiting ones."
    tab = tab if tab in TABS else FIRST
    rows = reach.narrow(_held_by(tab))
    older, newer = _number(before), _number(after)
    start = newer if newer is not None else older
    if newer is not None:
        found = list(_listed(rows.filter(pk__gt=newer).order_by("pk")))
    else:
        found = list(_listed((rows.filter(pk__lt=older) if older else rows).order_by("-pk")))
    is_full, found = len(found) > SIZE, found[:SIZE]
    if newer is not None:
        found.reverse()
    if not found and start is not None:
        return page(tab, reach=reach)
    has_older = is_full if newer is None else True
    has_newer = start is not None if newer is None else is_full
    return Page(
        tab=tab,
        label=TABS[tab][0],
        rows=found,
        newer=urlencode({"state": tab, "after": found[0].pk}) if found and has_newer else "",
        older=urlencode({"state": tab, "before": found[-1].pk}) if found and has_older else "",
        note=note,
    )


def _listed(rows: QuerySet[Draft]) -> QuerySet[Draft]:
    """With what a row shows, and nothing long."""
    heavy = [
        "text",
        "terms",
        "pointer",
        "exit",
        "challenge",
        "account__sealed_credential",
        "account__cursor",
    ]
    heavy += [f"target__{name}" for name in ("raw_json", "search", "content", "title")]
    return (
        rows.select_related("account__surface", "target")
        .defer(*heavy)
        .annotate(excerpt=Left("text", EXCERPT), question=Left("target__content", EXCERPT))
    )[: SIZE + 1]


def after(draft: Draft, reach: Reach = WHOLE) -> Draft | None:
    """The one to decide on next: the oldest that waits behind this one, else the oldest."""
    waiting = reach.narrow(Draft.objects.waiting()).exclude(pk=draft.pk).only("pk")
    behind = ExpressionWrapper(Q(pk__gt=draft.pk), output_field=BooleanField())
    return waiting.order_by(behind.desc(), "pk").first()


def candidates(draft: Draft) -> list[Message]:
    """Ours in that thread, and no draft's yet: one of them may be what we said."""
    ours = Message.objects.filter(account=draft.account, draft=None).outgoing()
    ours = ours.filter(post=draft.target.post_id) if draft.target else ours.posts()
    if draft.asked_at:
        ours = ours.written_since(draft.asked_at - SLACK)
    return list(ours.order_by("-created_at", "-id").defer("raw_json", "search")[:CANDIDATES])


def decided_before(draft: Draft, me: str, now: datetime) -> str:
    """What somebody else decided, and how long ago; "" if nobody did, or it waits again."""
    if draft.state in UNDECIDED or not draft.decided_by or not draft.decided_at:
        return ""
    if draft.decided_by == me:
        return f"You decided this already: it is {draft.state}."
    kind, _, name = draft.decided_by.partition(":")
    if kind == "operator":
        operator = Operator.objects.filter(username=name).first()
        name = operator.name if operator else name
    ago = span(now - draft.decided_at)
    return f"{name or kind} decided this {ago} before you: it is {draft.state}."


def text_limit(draft: Draft) -> int:
    """The longest text the service takes for this, in its own characters."""
    traits = draft.account.surface.traits
    return (draft.what == What.POST and traits.post_limit) or traits.text_limit


def checked(draft: Draft, typed: Mapping[str, str]) -> dict[str, str]:
    """What may be kept of an edited form; title and community belong to posts."""
    if draft.what != What.POST:
        return {"text": typed["text"]}
    community = typed["community"].replace("\0", "")
    if len(community) > 200:
        raise BadInput("The community has more than 200 characters. Enter its short name.")
    if len(typed["title"]) > 300:
        raise BadInput(f"The title has {len(typed['title']):,} characters. Enter at most 300.")
    return {"text": typed["text"], "title": typed["title"], "community": community}


def _number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None
