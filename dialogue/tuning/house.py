"""What all agents together may cost."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from dialogue.models import HouseBudget
from dialogue.tuning.values import OF_HOUSE, Changed, Values, check_seen, in_words, only
from surfaces.errors import BadInput
from surfaces.models import AuditEvent

SUBJECT = "house:budget"


@transaction.atomic
def set_house_budget(values: Values, *, by: str, seen: Values | None = None) -> Changed:
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
        AuditEvent.objects.record("house.changed", actor=by, subject=SUBJECT, **facts)
    return changed


def _check(row: HouseBudget) -> None:
    try:
        row.clean_fields()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    if any(getattr(row, name) < 0 for name in OF_HOUSE):
        raise BadInput("A budget is 0 or more.")
    if row.money_per_day > row.money_per_month or row.tokens_per_day > row.tokens_per_month:
        raise BadInput("A day's budget is larger than the month's.")
