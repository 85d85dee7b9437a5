"""What people changed of one row, out of the ledger, in words: newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from surfaces.changes import in_words
from surfaces.models import AuditEvent
from surfaces.showing import plain

if TYPE_CHECKING:
    from surfaces.knobs import Knob, Section, Words

LOOKED_AT = 60  # lines; a value changed before them says nothing
SHOWN = 3
LONGEST = 80  # characters of a value in a sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One value that became another, and whose doing it was."""

    name: str
    label: Words
    before: str
    after: str
    unit: Words
    event: AuditEvent

    @property
    def is_short(self) -> bool:
        """Fits into one line beside its control."""
        return len(self.before) + len(self.after) <= 48


@dataclass(frozen=True, kw_only=True)
class Teller:
    """How the changes of one kind of row are told."""

    knobs: Mapping[str, Knob]
    words: Callable[[str, Any], str] = field(default=lambda _name, kept: kept_words(kept))
    facts: Callable[[AuditEvent], Mapping[str, Any]] = field(default=lambda event: event.facts)
    may_undo: Callable[[AuditEvent], bool] = field(default=lambda _event: True)
    is_now: Mapping[str, Any] = field(default_factory=dict)  # as the ledger would keep it


@dataclass(frozen=True, slots=True)
class Change:
    event: AuditEvent
    teller: Teller

    @property
    def facts(self) -> dict[str, list[Any]]:
        """Only what became something else; a line may tell more."""
        found = self.teller.facts(self.event)
        order = dict.fromkeys([*self.teller.knobs, *found])  # as on the page, not as JSON has it
        pairs = {name: found[name] for name in order if name in found}
        return {k: pair for k, pair in pairs.items() if isinstance(pair, list) and len(pair) == 2}

    @property
    def turned(self) -> list[Told]:
        return [self.one(name) for name in self.facts]

    def one(self, name: str) -> Told:
        before, after = self.facts[name]
        knob = self.teller.knobs.get(name)
        return Told(
            name=name,
            label=knob.label if knob else name.replace("_", " ").capitalize(),
            before=self.teller.words(name, before),
            after=self.teller.words(name, after),
            unit=knob.unit if knob else "",
            event=self.event,
        )

    @property
    def can_undo(self) -> bool:
        return bool(self.facts) and self.teller.may_undo(self.event)

    @property
    def moved(self) -> list[Words]:
        """Labels of what is not any more what this change made of it."""
        now = self.teller.is_now
        return [
            self.one(name).label
            for name, (_before, after) in self.facts.items()
            if name in now and now[name] != after
        ]


class History:
    def __init__(self, lines: Iterable[AuditEvent], teller: Teller) -> None:
        told = (Change(line, teller) for line in lines)
        self.changes = [change for change in told if change.facts]

    @property
    def shown(self) -> list[Change]:
        return self.changes[:SHOWN]

    @property
    def last(self) -> Change | None:
        return self.changes[0] if self.changes else None

    def of(self, name: str) -> Told | None:
        """How this value became what it is."""
        found = next((change for change in self.changes if name in change.facts), None)
        return found.one(name) if found else None

    def by_section(self, parts: Iterable[Section]) -> dict[str, AuditEvent]:
        """The last change of each section of a form."""
        found = {part.id: self.section(knob.name for knob in part.knobs) for part in parts}
        return {section: event for section, event in found.items() if event}

    def section(self, names: Iterable[str]) -> AuditEvent | None:
        """The last change of any of these values."""
        wanted = set(names)
        found = (change.event for change in self.changes if wanted & set(change.facts))
        return next(found, None)


def lines_about(subject: str, *actions: str) -> QuerySet[AuditEvent]:
    """The lines a history is made of. One query."""
    rows = AuditEvent.objects.on(subject).filter(action__in=actions)
    return rows.order_by("-id")[:LOOKED_AT]


def kept_words(kept: Any) -> str:
    """A value of the ledger for a sentence."""
    if isinstance(kept, bool):
        return _("on") if kept else _("off")
    text = in_words(kept)
    if text.isascii() and text.isdigit():
        return f"{int(text):,}"
    return plain(text, LONGEST) or _("nothing")
