"""From a column to the control for it, with the bounds and the default that the column has.

No page can say other numbers than those that hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.fields import NOT_PROVIDED

from dialogue.forms.knobs import Knob
from dialogue.tuning import in_words
from dialogue.tuning.values import KERNELS, LONGEST_PERSONA, MOST_KERNELS
from surfaces.forms import zones
from surfaces.showing import REARRANGING

TYPED = {"autocomplete": "off", "spellcheck": "false"}
ENDLESS = 2**31 - 1  # a bound of the database's, not of ours

Column = models.Field[Any, Any]


@dataclass(frozen=True, slots=True)
class Bounds:
    low: float
    high: float | None
    default: str

    @classmethod
    def of(cls, column: Column) -> Bounds:
        low, high = _end(column, MinValueValidator), _end(column, MaxValueValidator)
        is_ours = high is not None and high < ENDLESS
        return cls(low or 0, high if is_ours else None, default_of(column))

    @property
    def words(self) -> str:
        if self.high is None:
            return f"{self.low:,} or more"
        return f"{self.low:,} to {self.high:,}"


def _end(column: Column, kind: type[MinValueValidator | MaxValueValidator]) -> Any:
    ends = [check.limit_value for check in column.validators if type(check) is kind]
    return ends[0] if ends else None


def default_of(column: Column) -> str:
    default = None if column.default is NOT_PROVIDED else column.default
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, int):
        return f"{default:,}"
    return "" if default is None or callable(default) else in_words(default)


def made_of(column: Column, knob: Knob) -> forms.Field:
    """The control of the look for this kind of column."""
    if knob.name == KERNELS:
        return Lines(most=MOST_KERNELS, longest=1_000)
    if column.get_internal_type() == "ArrayField":
        items: Any = column
        return Lines(most=items.size, longest=items.base_field.max_length)
    if knob.name == "timezone":
        return forms.ChoiceField(choices=zones)
    if column.choices:
        return forms.ChoiceField(choices=_cautious_first(column), widget=forms.RadioSelect)
    if isinstance(column, models.BooleanField):
        return forms.BooleanField(required=False, widget=forms.CheckboxInput({"class": "switch"}))
    if isinstance(column, models.TimeField):
        return _time()
    if isinstance(column, models.TextField):
        text = forms.Textarea(attrs={"rows": 12, "dir": "auto"})
        return forms.CharField(required=False, max_length=LONGEST_PERSONA, widget=text)
    if isinstance(column, models.CharField):
        checks = [legible] if knob.name == "name" else []
        return forms.CharField(max_length=column.max_length, validators=checks)
    return number(column, knob.unit)


def _cautious_first(column: Column) -> list[Any]:
    """Modes from off to auto; other choices as the column has them."""
    choices = list(column.choices or [])
    return choices[::-1] if column.name == "mode" else choices


def _time() -> forms.Field:
    clock = forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "input n"})
    words = {"invalid": "Enter a time like 08:00, or nothing."}
    return forms.TimeField(required=False, widget=clock, error_messages=words)


def number(column: Column, unit: str = "") -> forms.Field:
    """Typed as text: the browser keeps quiet, and we say what to enter instead."""
    bounds = Bounds.of(column)
    asked = f"Enter {bounds.words}{f' {unit}' if unit else ''}."
    if isinstance(column, models.DecimalField):
        kind: Any = forms.DecimalField
        more = {"max_digits": column.max_digits, "decimal_places": column.decimal_places}
    else:
        kind = forms.FloatField if isinstance(column, models.FloatField) else forms.IntegerField
        more = {}
    is_whole = kind is forms.IntegerField
    inputmode = "numeric" if is_whole else "decimal"
    made: forms.Field = kind(
        min_value=bounds.low,
        max_value=bounds.high if bounds.high is not None else _most(column),
        widget=forms.TextInput(attrs={"class": "input n", "inputmode": inputmode, **TYPED}),
        error_messages={
            "required": asked,
            "invalid": f"This is no {'whole ' if is_whole else ''}number. {asked}",
            "max_value": f"%(show_value)s is more than {_said(bounds.high)}. {asked}",
            "min_value": f"%(show_value)s is less than {bounds.low:,}. {asked}",
        },
        **more,
    )
    return made


def _said(end: float | None) -> str:
    return "can be kept" if end is None else f"{end:,}"


def _most(column: Column) -> int | None:
    """What the database can hold, where we set no bound."""
    most = _end(column, MaxValueValidator)
    return None if most is None else int(most)


def legible(name: str) -> None:
    """Refuse a name that shows nothing, breaks the line or turns the words around it."""
    is_line = name.splitlines() == [name] and not REARRANGING.search(name)
    if not is_line or not any(c.isprintable() and not c.isspace() for c in name):
        raise ValidationError("Nobody can read this name. Enter one line of letters that show.")


class Lines(forms.CharField):
    """A list, one item in a line; said twice is said once."""

    def __init__(self, *, most: int, longest: int) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}))
        self.most, self.longest = most, longest

    def clean(self, value: Any) -> list[str]:
        text = super().clean(value) or ""
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        items = list(dict.fromkeys(lines))
        if len(items) > self.most:
            raise ValidationError(f"{len(items):,} lines are too many. Keep {self.most} at most.")
        if long := next((item for item in items if len(item) > self.longest), ""):
            raise ValidationError(
                f"“{long[:24]}…” has {len(long):,} characters. Enter {self.longest:,} at most."
            )
        return items

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value
