"""From a column to its form field, with error messages that say what to enter."""

import re
from datetime import time
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _

from surfaces.settings.changes import to_text
from surfaces.settings.fields import Column
from surfaces.text.format import REARRANGING

NUMBER = {"class": "input n", "autocomplete": "off", "spellcheck": "false"}
MAX_REQUESTS = 1_000_000
MAX_SECONDS = 31 * 86_400
NO_BOUND = 2**31 - 1  # a bound of the database's, not of ours


def form_field(
    column: Column, unit: Any = "", *, bounds: tuple[float, float] | None = None
) -> forms.Field:
    """The form field for this kind of column. `bounds` are narrower than those of the column."""
    if column.choices:
        choices = list(column.choices)
        if column.name == "mode":
            choices.reverse()  # from off to auto
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect)
    if isinstance(column, models.BooleanField):
        return _made(column, widget=forms.CheckboxInput({"class": "switch"}))
    if isinstance(column, models.TimeField):
        clock = forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "input n"})
        invalid = _("Enter a time like 08:00, or leave this empty.")
        return _made(column, widget=clock, error_messages={"invalid": invalid})
    if isinstance(column, models.CharField):
        return _made(column, validators=[check_legible] if column.name == "name" else [])
    # A number in a text input: the browser shows no messages of its own, ours say what to enter.
    checks = [check for check in column.validators if isinstance(check, BaseValidator)]
    ends = {type(check): check.limit_value for check in checks}
    mode = "decimal" if isinstance(column, models.DecimalField | models.FloatField) else "numeric"
    widget = forms.TextInput(attrs={**NUMBER, "inputmode": mode})
    low, high = bounds or (ends.get(MinValueValidator, 0), ends.get(MaxValueValidator))
    field = _made(column, min_value=low, max_value=high, widget=widget)
    field.error_messages |= number_errors(field, unit)
    return field


def _made(column: Column, **more: Any) -> forms.Field:
    field = column.formfield(**more)
    assert field is not None  # noqa: S101 - only generated columns have none
    return field


def bounds_text(field: forms.Field) -> str:
    """ "0 to 60", "0 or more"; "" for what is no number."""
    low, high = getattr(field, "min_value", None), getattr(field, "max_value", None)
    if low is None:
        return ""
    if high is None or high >= NO_BOUND:
        return _("%(low)s or more") % {"low": f"{low:,}"}
    return _("%(low)s to %(high)s") % {"low": f"{low:,}", "high": f"{high:,}"}


def number_errors(field: forms.Field, unit: Any) -> dict[str, str]:
    """Each says what to enter instead. Django fills in `show_value`."""
    bounds = f"{bounds_text(field)} {unit}".strip()
    has_end = getattr(field, "max_value", None) is not None
    asked = _("Enter a number from %(bounds)s.") if has_end and not unit else _("Enter %(bounds)s.")
    asked %= {"bounds": bounds}
    again = asked.replace("%", "%%")  # Django fills the value into the last two
    is_whole = type(field) in (forms.IntegerField, PercentField)
    no_number = _("This is not a whole number.") if is_whole else _("This is not a number.")
    return {
        "required": asked,
        "invalid": f"{no_number} {asked}",
        "max_value": _("%(show_value)s is too large.") + f" {again}",
        "min_value": _("%(show_value)s is too small.") + f" {again}",
    }


class PercentField(forms.IntegerField):
    """A share between 0 and 1, shown and typed in percent."""

    def __init__(self) -> None:
        widget = forms.TextInput(attrs={**NUMBER, "inputmode": "numeric"})
        super().__init__(min_value=0, max_value=100, widget=widget)
        self.error_messages |= number_errors(self, "%")

    def clean(self, value: Any) -> Any:
        return super().clean(value) / 100

    def prepare_value(self, value: Any) -> Any:
        return round(value * 100) if isinstance(value, float) else value

    def display(self, value: Any) -> str:
        return f"{float(value) * 100:g}"


def check_legible(name: str) -> None:
    """Refuse a name that shows nothing, breaks the line or reorders the text around it."""
    is_line = name.splitlines() == [name] and not REARRANGING.search(name)
    if not is_line or not any(c.isprintable() and not c.isspace() for c in name):
        raise ValidationError(_("Enter one line of visible characters."))


class LinesField(forms.CharField):
    """A list, one item a line. How many there may be, and how long, the spec checks."""

    def __init__(self) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}))

    def clean(self, value: Any) -> list[str]:
        return [line for line in (super().clean(value) or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value


class RateField(forms.CharField):
    """[requests, seconds] typed as "20/30", or None: as the service documents it, if it does."""

    def __init__(self, *, documented: list[int] | None) -> None:
        self.documented = documented
        example = "{}/{}".format(*documented) if documented else "50/3600"
        widget = forms.TextInput(attrs={**NUMBER, "placeholder": example})
        super().__init__(required=False, widget=widget)

    def clean(self, value: Any) -> list[int] | None:
        text = super().clean(value)
        if not text:
            return None
        typed = re.fullmatch(r"([0-9]{1,7})\s*/\s*([0-9]{1,7})", text)
        most, seconds = map(int, typed.groups()) if typed else (0, 0)
        if not (1 <= most <= MAX_REQUESTS and 1 <= seconds <= MAX_SECONDS):
            message = _(
                "Enter requests/seconds, such as 50/3600: up to %(most)s requests in up to"
                " %(long)s seconds."
            )
            bounds = {"most": f"{MAX_REQUESTS:,}", "long": f"{MAX_SECONDS:,}"}
            raise ValidationError(message % bounds)
        return [most, seconds]

    def prepare_value(self, value: Any) -> Any:
        return "{}/{}".format(*value) if isinstance(value, list) else value

    def display(self, value: Any) -> str:
        unset = _("as documented") if self.documented else _("no limit of ours")
        return str(self.prepare_value(value) or unset)


def as_typed(field: forms.Field, value: Any) -> str:
    """A value as a browser would send it; "" is an empty field or a box that is not ticked."""
    value = field.prepare_value(value)
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, time):
        return f"{value:%H:%M}"
    return to_text(value).strip().replace("\r\n", "\n")


def initial_of(value: Any) -> Any:
    """A value for its widget: decimals without trailing zeros."""
    return to_text(value) if isinstance(value, Decimal) else value
