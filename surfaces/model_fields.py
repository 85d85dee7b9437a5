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


class _ReadAsText:
    """NULL where nothing is known, in the database; an empty text in the program."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        return value or ""

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        is_empty = isinstance(value, str) and not value
        return super().get_db_prep_save(None if is_empty else value, connection)  # type: ignore[misc]

    def get_default(self) -> str:
        return ""  # of a row that was not read yet

    def deconstruct(self) -> Recorded:
        name, path, args, kwargs = super().deconstruct()  # type: ignore[misc]
        return (
            name,
            path.replace("surfaces.model_fields.Nullable", "django.db.models."),
            args,
            kwargs,
        )


class NullableTextField(_ReadAsText, models.TextField):  # type: ignore[type-arg]
    pass


class NullableCharField(_ReadAsText, models.CharField):  # type: ignore[type-arg]
    pass


class CheckedCharField(models.CharField):  # type: ignore[type-arg]
    def deconstruct(self) -> Recorded:
        return _without_checks(super().deconstruct())


class CheckedJSONField(models.JSONField):
    def deconstruct(self) -> Recorded:
        return _without_checks(super().deconstruct())
