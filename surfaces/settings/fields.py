"""How a form presents a setting: label, one line of help, unit.

Bounds and defaults are the column's, so no page can show other numbers than those that hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models.fields import NOT_PROVIDED
from django.utils.functional import Promise

Text = str | Promise  # translated when it is shown
Column = models.Field[Any, Any]


@dataclass(frozen=True, slots=True)
class SettingField:
    name: str
    label: Text
    help: Text = ""
    unit: Text = ""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: Text
    fields: tuple[SettingField, ...]
    note: Text = ""


def by_name(sections: Iterable[Section]) -> dict[str, SettingField]:
    return {field.name: field for section in sections for field in section.fields}


def field_of(model: type[models.Model], name: str) -> Column:
    """A column by its name; Django's own `get_field` finds relations of other tables, too."""
    return next(field for field in model._meta.concrete_fields if field.name == name)


def default_of(column: Column) -> Any:
    """What a new row has there; None if nothing."""
    if column.default is NOT_PROVIDED:
        return "" if isinstance(column, models.CharField | models.TextField) else None
    return column.default() if callable(column.default) else column.default
