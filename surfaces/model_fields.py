"""Bounds and checks of columns, and fields whose validators and choices no migration records."""

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

Recorded = tuple[str, str, Any, dict[str, Any]]


def _without_checks(found: Recorded) -> Recorded:
    name, path, args, kwargs = found
    kept = {key: value for key, value in kwargs.items() if key not in {"validators", "choices"}}
    return name, path.replace("surfaces.model_fields.Checked", "django.db.models."), args, kept


def between(low: float, high: float) -> list[Any]:
    """Validators of a column whose numbers end there."""
    return [MinValueValidator(low), MaxValueValidator(high)]


def check(name: str, **conditions: Any) -> models.CheckConstraint:
    """What the database checks of every row."""
    return models.CheckConstraint(name=name, condition=models.Q(**conditions))


class CheckedCharField(models.CharField):  # type: ignore[type-arg]
    def deconstruct(self) -> Recorded:
        return _without_checks(super().deconstruct())


class CheckedJSONField(models.JSONField):
    def deconstruct(self) -> Recorded:
        return _without_checks(super().deconstruct())
