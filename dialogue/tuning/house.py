"""What all agents together may cost."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from dialogue.models import HouseBudget
from dialogue.tuning.values import OF_HOUSE, Changed, Values, check_seen, in_words, only
from surfaces.changes import set_back
from surfaces.errors import BadInput, NotAllowed
from surfaces.knobs import field_of
from surfaces.models import AuditEvent

CHANGED = "house.changed"
SUBJECT = "house:budget"


@transaction.atomic
def set_house_budget(
    values: Values, *, by: str, seen: Values | None = None, why: str = ""
) -> Changed:
    HouseBudget.current()
    row = HouseBudget.objects.select_for_update().get(pk=1)
    before = {name: getattr(row, name) for name in OF_HOUSE}
    check_seen(before, seen)
    for name, value in only(values, OF_HOUSE).items():
        setattr(row, name, value)
    _check(row)
    new = {name: getattr(row, name) for name in OF_HOUSE if getattr(row, name) != before[name]}
    changed = {name: [in_words(before[name]), in_words(value)] for name, value in new.items()}
    if changed:
        HouseBudget.objects.filter(pk=1).update(**new)
        facts: dict[str, Any] = {**changed}
        AuditEvent.objects.record(CHANGED, actor=by, subject=SUBJECT, why=why, **facts)
    return changed


@transaction.atomic
def undo_house_budget(line: AuditEvent, *, by: str) -> Changed:
    """Set back what one change did, unless it was changed again since."""
    if (line.subject, line.action) != (SUBJECT, CHANGED):
        raise NotAllowed("This change cannot be taken back here. Set the values by hand.")
    row = HouseBudget.objects.select_for_update().get(pk=1)
    is_now = {name: in_words(getattr(row, name)) for name in OF_HOUSE}
    kept = set_back(line.facts, is_now, label=lambda name: name.replace("_", " "))
    values = {name: field_of(HouseBudget, name).to_python(was) for name, was in kept.items()}
    return set_house_budget(values, by=by, why=f"Takes back line {line.pk}.")


def _check(row: HouseBudget) -> None:
    try:
        row.clean_fields()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    if any(getattr(row, name) < 0 for name in OF_HOUSE):
        raise BadInput("A budget is 0 or more.")
    if row.money_per_day > row.money_per_month or row.tokens_per_day > row.tokens_per_month:
        raise BadInput("A day's budget is larger than the month's.")
