"""Change settings and undo a change: the same two functions for every kind of row.

Each noun has a `SettingsSpec` for its model. A change runs under the lock of its row, is
checked as a whole and written as one audit event that holds each value before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from surfaces.audit.models import AuditEvent, AuditQuerySet, name_of
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.extension_points import end_waits
from surfaces.settings.changes import Pairs, Values, changed_since, merge, pairs_of, to_json
from surfaces.settings.fields import Column, field_of
from surfaces.text.reasons import StoredReason

Row = TypeVar("Row", bound=models.Model)
_specs: dict[type[models.Model], SettingsSpec[Any]] = {}


CHANGED_AGAIN_ONE = _("%(fields)s was changed again since. Set the value by hand.")
CHANGED_AGAIN = _("%(fields)s were changed again since. Set the values by hand.")


class ChangedMeanwhile(StaleState):
    """Somebody else changed `fields` since the person looked."""

    def __init__(
        self,
        fields: Iterable[str],
        message: object = _("Changed after you opened this page: %(fields)s. Look again."),
    ) -> None:
        self.fields = tuple(fields)
        super().__init__(message, fields=[name.replace("_", " ") for name in self.fields])


@dataclass(frozen=True, slots=True)
class SavedChange:
    """What one save changed: nothing, or the values of one audit event."""

    pairs: Pairs
    event_id: int | None = None

    def __bool__(self) -> bool:
        return bool(self.pairs)


class SettingsSpec(Generic[Row]):
    """What can be set of the rows of a model. As it stands: their columns named in `fields`."""

    model: type[Row]
    action: str
    fields: tuple[str, ...]
    is_singleton = False  # one row, made when it is changed first

    def __init_subclass__(cls) -> None:
        _specs[cls.model] = cls()

    def knows(self, name: str) -> bool:
        return name in self.fields

    def column(self, name: str) -> Column:
        return field_of(self.model, name)

    def lock(self, row: Row) -> Row:
        rows = self.model._default_manager
        if self.is_singleton:
            rows.bulk_create([self.model(pk=row.pk)], ignore_conflicts=True)
        return rows.select_for_update().get(pk=row.pk)

    def read(self, row: Row) -> dict[str, Any]:
        return {name: getattr(row, name) for name in self.fields}

    def clean(self, row: Row, name: str, value: Any) -> Any:
        return self.column(name).clean(value, None)

    def same(self, one: Any, other: Any) -> bool:
        return bool(one == other)

    def check(self, row: Row, new: Values) -> None:
        """Rules between values, as the database has them."""
        for name, value in new.items():
            setattr(row, name, value)
        row.validate_constraints()

    def write(self, row: Row, new: Values, *, by: str, now: datetime) -> None:
        self.model._default_manager.filter(pk=row.pk).update(**new)

    def subject(self, row: Row) -> models.Model:
        """The row that the audit event is about."""
        return row

    def facts(self, row: Row) -> dict[str, Any]:
        """What an event says besides the values, if its subject does not name the row."""
        return {}


def spec_of(row: Row) -> SettingsSpec[Row]:
    return _specs[type(row)]


def values_of(row: models.Model) -> dict[str, Any]:
    """Everything that can be set of a row, as it is."""
    return spec_of(row).read(row)


@transaction.atomic
def change(
    row: Row,
    values: Values,
    *,
    by: str,
    now: datetime,
    seen: Mapping[str, str] | None = None,
    why: str | StoredReason = "",
    undoes: int | None = None,
) -> SavedChange:
    """Change what is different. `seen`: the marks of the values the person had before them.

    A value that somebody else changed meanwhile, and this person too, is refused; the others
    are merged.
    """
    spec = spec_of(row)
    held = spec.lock(row)
    before = spec.read(held)
    if unknown := sorted(name for name in values if not spec.knows(name)):
        raise BadInput(_("There is no setting %(names)s."), names=", ".join(unknown))
    wanted, conflicts = merge(before, values, seen)
    if conflicts:
        raise ChangedMeanwhile(conflicts)
    new = {}
    for name, value in wanted.items():
        with _as_bad_input(name.replace("_", " ").capitalize()):
            kept = spec.clean(held, name, value)
        if not spec.same(before.get(name), kept):
            new[name] = kept
    if not new:
        return SavedChange({})
    with _as_bad_input():
        spec.check(held, new)
    spec.write(held, new, by=by, now=now)
    end_waits(held, *new)
    pairs = {name: [to_json(before.get(name)), to_json(value)] for name, value in new.items()}
    facts = {**spec.facts(held), **({"undoes": undoes} if undoes else {}), **pairs}
    about = spec.subject(held)
    event = AuditEvent.objects.record(spec.action, actor=by, subject=about, why=why, **facts)
    row.refresh_from_db()
    return SavedChange(pairs, event.pk)


@contextmanager
def _as_bad_input(label: str = "") -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        why = " ".join(error.messages)
        raise BadInput("%(why)s", why=f"{label}: {why}" if label else why) from error


def events_of(row: models.Model) -> AuditQuerySet:
    """The changes of a row's settings, oldest first."""
    spec = spec_of(row)
    events = AuditEvent.objects.about(spec.subject(row)).called(spec.action).order_by("id")
    facts = spec.facts(row)
    return events.filter(facts__contains=facts) if facts else events


def can_undo(row: models.Model, event: AuditEvent) -> bool:
    """Whether an event is a change of this row, and all of its values can be set back."""
    spec = spec_of(row)
    is_its = (event.action, event.subject) == (spec.action, name_of(spec.subject(row)))
    is_its = is_its and spec.facts(row).items() <= event.facts.items()
    pairs = pairs_of(event.facts)
    return is_its and bool(pairs) and all(map(spec.knows, pairs))


@transaction.atomic
def undo(row: Row, event: AuditEvent, *, by: str, now: datetime) -> SavedChange:
    """Set back what one change did, unless one of its values was changed again since."""
    if not can_undo(row, event):
        raise NotAllowed(_("This change cannot be undone here. Set the values by hand."))
    held = spec_of(row).lock(row)
    pairs = pairs_of(event.facts)
    if moved := changed_since(pairs, values_of(held)):
        raise ChangedMeanwhile(moved, CHANGED_AGAIN if len(moved) > 1 else CHANGED_AGAIN_ONE)
    before = {name: value for name, (value, _after) in pairs.items()}
    return change(row, before, by=by, now=now, undoes=event.pk)
