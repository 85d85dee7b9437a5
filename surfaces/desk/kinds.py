"""What kinds of things wait here, and what each can show and have done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

from surfaces.errors import BadInput
from surfaces.models import DeskItem
from surfaces.timeline import Step

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """Who acts, when, and what they typed and were shown."""

    by: str
    now: datetime
    posted: Mapping[str, str] = field(default_factory=dict)
    delay: timedelta = timedelta()  # how long approved words can still be called back

    def typed(self, name: str) -> str:
        return self.posted.get(name, "").replace("\0", "").strip()


Verb = Callable[[Any, Given], str]  # does it, returns what was done in words


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """One thing a person may do to an item."""

    name: str  # the last part of its address
    label: StrOrPromise
    key: str
    verb: Verb
    css: str = ""
    undo: Verb | None = None
    in_bulk: bool = True  # possible without looking at the item alone


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What a row of the queue says. `said` is a stranger's or an agent's text."""

    who: str
    place: str
    author: str
    said: str
    whys: tuple[str, ...]  # sentences, shown one after the other
    badge: str = ""
    badge_css: str = ""
    stamp: str = ""  # names exactly what was seen, for acting on many at once


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of thing that waits. Icons and classes are those of the design language."""

    name: str
    label: StrOrPromise  # of one: "Draft to review"
    short: StrOrPromise  # in a row: "Draft"
    plural: StrOrPromise
    icon: str
    css: str = ""
    load: Callable[[Iterable[int]], Mapping[int, Any]]  # light rows for the queue, by id
    line: Callable[[Any, DeskItem], Line]
    get: Callable[[int], Any]  # one whole row with `account_id`, maybe `agent`; or None
    template: str
    context: Callable[[Any, datetime], dict[str, Any]]
    title: Callable[[Any], str]
    decided: Callable[[Any, str, datetime], str]  # what was decided, by whom; "" if nothing was
    steps: Callable[[Any], Sequence[Step]]  # how it came here
    acts: tuple[Act, ...]
    reasons: tuple[StrOrPromise, ...] = ()

    def act(self, name: str) -> Act:
        found = next((act for act in self.acts if act.name == name), None)
        if found is None:
            raise BadInput(f"{self.short}: {name[:40]!r} is not one of its acts.")
        return found


@cache
def kinds() -> dict[str, Kind]:
    """Every registered kind by name, in the order of the settings."""
    found = [kind for name in settings.DESK_KINDS for kind in import_string(name)]
    return {kind.name: kind for kind in found}


def called(name: str) -> Kind | None:
    return kinds().get(name)
