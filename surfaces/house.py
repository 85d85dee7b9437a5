"""Read and change what holds for everybody, and take a change back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from surfaces.changes import (
    Change,
    ChangedMeanwhile,
    Values,
    differences,
    moved_since,
    set_back,
)
from surfaces.errors import BadInput, NotAllowed
from surfaces.knobs import field_of
from surfaces.models import AuditEvent, House

CHANGED = "house.changed"
LABELS = {
    "name": "Name",
    "language": "Language",
    "undo_seconds": "Time to undo",
    "drafts_wait_hours": "Drafts wait",
    "suspect_from": "Suspect from",
    "spam_from": "Spam from",
}
FIELDS = tuple(LABELS)


def current() -> House:
    """The house as it is; the defaults, unsaved, where nobody changed anything yet."""
    return House.objects.filter(pk=1).first() or House(pk=1)


def values_of(row: House) -> dict[str, Any]:
    return {name: getattr(row, name) for name in FIELDS}


@transaction.atomic
def change(
    values: Values,
    *,
    by: str,
    now: datetime,
    seen: Mapping[str, str] | None = None,
    why: str = "",
) -> Change:
    """Change what is different, in one line of the ledger.

    `seen`: the marks (`changes.marks_of`) of what the person had before them; what somebody
    else changed meanwhile is refused with what was changed.
    """
    row = _locked()
    before = values_of(row)
    if moved := moved_since(before, seen):
        raise ChangedMeanwhile(moved, _who_was_faster(moved))
    turned = differences(before, _checked(row, values))
    if not turned:
        return Change({})
    new = {name: after for name, (_, after) in turned.items()}
    House.objects.filter(pk=1).update(**new, updated_at=now, updated_by=by)
    line = AuditEvent.objects.record(CHANGED, actor=by, subject=row, why=why, **turned)
    return Change(turned, line.pk)


@transaction.atomic
def undo(line_id: int, *, by: str, now: datetime) -> Change:
    """Set back what one line did, unless one of its values moved since."""
    row = _locked()
    line = AuditEvent.objects.about(row).called(CHANGED).filter(pk=line_id).first()
    if line is None:
        raise NotAllowed("There is no such change of the house to take back.")
    before = set_back(line.facts, values_of(row), label=LABELS.__getitem__)
    return change(before, by=by, now=now, why=f"Takes back line {line_id}.")


def _locked() -> House:
    House.objects.bulk_create([House(pk=1)], ignore_conflicts=True)
    return House.objects.select_for_update().get(pk=1)


def _checked(row: House, values: Values) -> dict[str, Any]:
    """The values as they will be kept, or `BadInput` with what to enter instead."""
    if unknown := sorted(set(values).difference(FIELDS)):
        raise BadInput(f"There is no house setting {', '.join(unknown)}.")
    kept = {name: _cleaned(name, value) for name, value in values.items()}
    after = House(pk=1, **{**values_of(row), **kept})
    try:
        after.validate_constraints()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    return kept


def _cleaned(name: str, value: Any) -> Any:
    try:
        return field_of(House, name).clean(value, None)
    except ValidationError as error:
        raise BadInput(f"{LABELS[name]}: {' '.join(error.messages)}") from error


def _who_was_faster(moved: list[str]) -> str:
    lines = AuditEvent.objects.on(House.ledger_name).called(CHANGED).order_by("-id")[:20]
    line = next((line for line in lines if set(moved) & set(line.facts)), None)
    if line is None:
        return ""
    pairs = ((name, line.facts[name]) for name in moved if name in line.facts)
    what = ", ".join(f"{LABELS[name]} from {was} to {became}" for name, (was, became) in pairs)
    return f"{line.actor.partition(':')[2] or line.actor} changed {what} meanwhile. Look again."
