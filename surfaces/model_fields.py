"""Model fields whose validators are not written to migrations."""

from __future__ import annotations

from typing import Any

from django.db import models


class CheckedCharField(models.CharField):  # type: ignore[type-arg]
    """A CharField whose validators and choices are not recorded in migrations."""

    def deconstruct(self) -> tuple[str, str, Any, dict[str, Any]]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, _unchecked(kwargs)


class CheckedJSONField(models.JSONField):
    """A JSONField whose validators are not recorded in migrations."""

    def deconstruct(self) -> tuple[str, str, Any, dict[str, Any]]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, _unchecked(kwargs)


def _unchecked(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key not in {"validators", "choices"}}
