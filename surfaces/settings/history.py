"""The last changes of a row's settings, read from the audit log, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import cached_property

from surfaces.audit.models import AuditEvent
from surfaces.settings.changes import Pairs, changed_since, pairs_of
from surfaces.settings.fields import SettingField, Text
from surfaces.settings.services import can_undo, events_of

if TYPE_CHECKING:
    from surfaces.settings.base_form import SettingsForm

MAX_EVENTS = 60  # a value changed before them has no history
MAX_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """One value before and after a change, as the form shows it."""

    field: SettingField
    before: str
    after: str
    event: AuditEvent

    @property
    def is_short(self) -> bool:
        """Fits on one line beside its control."""
        return len(self.before) + len(self.after) <= 48


@dataclass(frozen=True)
class HistoryEntry:
    """One change of a row."""

    event: AuditEvent
    form: SettingsForm

    @cached_property
    def pairs(self) -> Pairs:
        return pairs_of(self.event.facts)

    @property
    def values(self) -> list[ChangedValue]:
        """Without what no form shows, such as a list that only an import sets."""
        names = self.form.ordered(self.pairs)
        return [self.value(name) for name in names if not self.form.is_hidden(name)]

    def value(self, name: str) -> ChangedValue:
        before, after = (self.form.display(name, value) for value in self.pairs[name])
        return ChangedValue(self.form.field_named(name), before, after, self.event)

    @cached_property
    def moved(self) -> list[str]:
        return changed_since(self.pairs, self.form.current)

    @property
    def can_undo(self) -> bool:
        """Not if a value changed again that no form shows: nobody could set it by hand."""
        is_lost = any(map(self.form.is_hidden, self.moved))
        return can_undo(self.form.row, self.event) and not is_lost

    @property
    def changed_since(self) -> list[Text]:
        """Labels of the values that were changed again."""
        names = self.moved if self.can_undo else []
        return [self.form.field_named(name).label for name in names]


class History:
    def __init__(self, form: SettingsForm, events: Iterable[AuditEvent] | None = None) -> None:
        if events is None:  # one query
            events = events_of(form.row).order_by("-id")[:MAX_EVENTS]
        entries = (HistoryEntry(event, form) for event in events)
        self.entries = [entry for entry in entries if entry.pairs]
        self.shown = [entry for entry in self.entries if entry.values][:MAX_SHOWN]

    def last(self, *names: str) -> HistoryEntry | None:
        """The last change of any of these values."""
        found = (entry for entry in self.entries if not entry.pairs.keys().isdisjoint(names))
        return next(found, None)
