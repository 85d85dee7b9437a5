"""Kinds of desk items: how they are shown and which actions they have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _lazy

from surfaces.desk.models import DeskItem
from surfaces.errors import BadInput
from surfaces.extension_points import extensions
from surfaces.threads.timeline import TimelineEvent

StrOrPromise = str | Promise


IMPOSSIBLE = _lazy("“%(act)s” is not possible for this item (%(label)s). Possible: %(possible)s.")


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionInput:
    by: str
    now: datetime
    posted: Mapping[str, str] = field(default_factory=dict)
    delay: timedelta = timedelta()  # how long an approval can be undone

    def typed(self, name: str) -> str:
        return self.posted.get(name, "").strip()


UNDO_WINDOW = timedelta(minutes=10)  # of what sends nothing; drafts.undo refuses later ones
Verb = Callable[[Any, ActionInput], str]  # performs it and returns what was done


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    name: str  # the last part of its address
    label: StrOrPromise
    key: str
    verb: Verb
    css: str = ""
    undo: Verb | None = None
    in_bulk: bool = True  # possible without looking at the item alone
    is_sent_after: bool = False  # the text is sent when the undo window ends
    by_stamp: bool = True  # refused when the item changed since it was shown

    def undo_window(self, given: ActionInput) -> timedelta:
        """How long it can be undone; zero if it cannot."""
        if self.undo is None:
            return timedelta()
        return given.delay if self.is_sent_after else UNDO_WINDOW


@dataclass(frozen=True, kw_only=True, slots=True)
class RowSummary:
    """Content of a row of the queue. `said` is text by others or by an agent."""

    who: str
    place: str
    author: str
    said: str
    whys: tuple[str, ...]  # sentences, shown one after the other
    badge: str = ""
    badge_css: str = ""
    stamp: str = ""  # names exactly what was seen, for acting on many at once


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskKind:
    """A kind of desk item. Icons and classes are those of the stylesheet."""

    name: str
    subject: str  # the audit log's name for what stands behind it: "draft"
    label: StrOrPromise  # of one: "Draft to review"
    short: StrOrPromise  # in a row: "Draft"
    plural: StrOrPromise
    icon: str
    css: str = ""
    load: Callable[[Iterable[int]], Mapping[int, Any]]  # light rows for the queue, by id
    line: Callable[[Any, DeskItem], RowSummary]
    # One whole row with `account_id`, maybe `agent`, maybe a `stamp`; or None.
    get: Callable[[int], Any]
    lock: Callable[[int], object] | None = None  # holds the row until the transaction ends
    template: str
    context: Callable[[Any, datetime], dict[str, Any]]
    title: Callable[[Any], str]
    decided: Callable[[Any, str, datetime], str]  # what was decided, by whom; "" if nothing was
    steps: Callable[[Any], Sequence[TimelineEvent]]  # how it came here
    acts: tuple[Action, ...]
    reasons: Sequence[tuple[str, StrOrPromise]] = ()  # values with labels
    decide_template: str = ""  # instead of a button for each action
    # (row, what was posted and refused) -> the form of its action `edit`
    form: Callable[[Any, Mapping[str, str]], Any] = lambda row, typed: None

    def act(self, name: str) -> Action:
        found = next((act for act in self.acts if act.name == name), None)
        if found is None:
            raise BadInput(IMPOSSIBLE, label=self.label, act=_label(name), possible=self._bulk())
        return found

    def _bulk(self) -> list[str]:
        return [str(act.label) for act in self.acts if act.in_bulk]


def _label(name: str) -> str:
    labels = {act.name: act.label for kind in kinds().values() for act in kind.acts}
    return str(labels.get(name, name[:40]))


def kinds() -> dict[str, DeskKind]:
    """Every kind that some extension adds, by name, in the order of the menu."""
    return {kind.name: kind for extension in extensions() for kind in extension.desk_kinds}


def called(name: str) -> DeskKind | None:
    return kinds().get(name)
