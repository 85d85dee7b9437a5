"""A value a person may turn, in words: its label, one line of help, its unit.

From its column come its bounds and its default, so no page can say other numbers than those
that hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.fields import NOT_PROVIDED
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from surfaces.changes import in_words

Words = str | Promise  # looked up in the reader's language when it is shown
ENDLESS = 2**31 - 1  # a bound of the database's, not of ours

Column = models.Field[Any, Any]


@dataclass(frozen=True, slots=True)
class Knob:
    name: str
    label: Words
    help: Words = ""
    unit: Words = ""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: Words
    knobs: tuple[Knob, ...]
    note: Words = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    low: float
    high: float | None
    default: str

    @classmethod
    def of(cls, column: Column) -> Bounds:
        low, high = _end(column, MinValueValidator), end_of(column)
        is_ours = high is not None and high < ENDLESS
        return cls(low or 0, high if is_ours else None, default_of(column))

    @property
    def words(self) -> str:
        if self.high is None:
            return _("%(low)s or more") % {"low": f"{self.low:,}"}
        return _("%(low)s to %(high)s") % {"low": f"{self.low:,}", "high": f"{self.high:,}"}


def _end(column: Column, kind: type[MinValueValidator | MaxValueValidator]) -> Any:
    ends = [check.limit_value for check in column.validators if type(check) is kind]
    return ends[0] if ends else None


def end_of(column: Column) -> Any:
    """The highest value, ours or else what the database can hold."""
    return _end(column, MaxValueValidator)


def default_value(column: Column) -> Any:
    """What a new row has there; None where there is no such thing."""
    if column.default is NOT_PROVIDED:
        return "" if isinstance(column, models.CharField | models.TextField) else None
    return column.default() if callable(column.default) else column.default


def default_of(column: Column) -> str:
    """The default for a sentence; "" where there is nothing to say."""
    default = None if column.default is NOT_PROVIDED else column.default
    if isinstance(default, bool):
        return _("on") if default else _("off")
    if isinstance(default, int):
        return f"{default:,}"
    return "" if default is None or callable(default) else in_words(default)


def field_of(model: type[models.Model], name: str) -> Column:
    """A column by its name; Django's own `get_field` finds relations of other tables, too."""
    return next(field for field in model._meta.concrete_fields if field.name == name)
