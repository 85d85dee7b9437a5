"""From a column to the control for it, with sentences for what cannot be used."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later

from surfaces.knobs import Bounds, Column, end_of
from surfaces.showing import REARRANGING

TYPED = {"autocomplete": "off", "spellcheck": "false"}
MOST_REQUESTS = 1_000_000
LONGEST_WINDOW = 31 * 86_400  # seconds


def control(column: Column, unit: Any = "") -> forms.Field:
    """The control of the look for this kind of column."""
    if column.choices:
        return forms.ChoiceField(choices=_cautious_first(column), widget=forms.RadioSelect)
    if isinstance(column, models.BooleanField):
        return forms.BooleanField(required=False, widget=forms.CheckboxInput({"class": "switch"}))
    if isinstance(column, models.TimeField):
        return _time()
    if isinstance(column, models.CharField):
        checks = [legible] if column.name == "name" else []
        words = {"required": later("Enter something here.")} if column.name != "name" else {}
        return forms.CharField(
            max_length=column.max_length,
            required=not column.blank,
            validators=checks,
            error_messages=words,
        )
    return number(column, unit)


def _cautious_first(column: Column) -> list[Any]:
    """Modes from off to auto; other choices as the column has them."""
    choices = list(column.choices or [])
    return choices[::-1] if column.name == "mode" else choices


def _time() -> forms.Field:
    clock = forms.TimeInput(format="%H:%M", attrs={"type": "time", "class": "input n"})
    words = {"invalid": later("Enter a time like 08:00, or nothing.")}
    return forms.TimeField(required=False, widget=clock, error_messages=words)


def number(column: Column, unit: Any = "") -> forms.Field:
    """Typed as text: the browser keeps quiet, and we say what to enter instead."""
    bounds = Bounds.of(column)
    if isinstance(column, models.DecimalField):
        kind: Any = forms.DecimalField
        more = {"max_digits": column.max_digits, "decimal_places": column.decimal_places}
    else:
        kind = forms.FloatField if isinstance(column, models.FloatField) else forms.IntegerField
        more = {}
    is_whole = kind is forms.IntegerField
    inputmode = "numeric" if is_whole else "decimal"
    most = bounds.high if bounds.high is not None else end_of(column)
    made: forms.Field = kind(
        min_value=bounds.low,
        max_value=None if most is None else most,
        widget=forms.TextInput(attrs={"class": "input n", "inputmode": inputmode, **TYPED}),
        error_messages=_refusals(bounds, unit, is_whole=is_whole),
        **more,
    )
    return made


def _refusals(bounds: Bounds, unit: Any, *, is_whole: bool) -> dict[str, str]:
    """Each says what to enter instead. Django fills in `show_value`."""
    asked = _("Enter %(bounds)s.") % {"bounds": f"{bounds.words} {unit}".strip()}
    no_number = _("This is no whole number.") if is_whole else _("This is no number.")
    high = _("can be kept") if bounds.high is None else f"{bounds.high:,}"
    low = f"{bounds.low:,}"
    again = asked.replace("%", "%%")  # Django fills the bound into these two
    return {
        "required": asked,
        "invalid": f"{no_number} {asked}",
        "max_value": _("%%(show_value)s is more than %(high)s.") % {"high": high} + f" {again}",
        "min_value": _("%%(show_value)s is less than %(low)s.") % {"low": low} + f" {again}",
    }


def legible(name: str) -> None:
    """Refuse a name that shows nothing, breaks the line or turns the words around it."""
    is_line = name.splitlines() == [name] and not REARRANGING.search(name)
    if not is_line or not any(c.isprintable() and not c.isspace() for c in name):
        raise ValidationError(_("Nobody can read this name. Enter one line of letters that show."))


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
            raise ValidationError(
                _("%(count)s lines are too many. Keep %(most)s at most.")
                % {"count": f"{len(items):,}", "most": self.most}
            )
        if long := next((item for item in items if len(item) > self.longest), ""):
            raise ValidationError(
                _("“%(start)s…” has %(count)s characters. Enter %(most)s at most.")
                % {"start": long[:24], "count": f"{len(long):,}", "most": f"{self.longest:,}"}
            )
        return items

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value


# ── so many requests in so long ───────────────────────────────────────────


class PaceInput(forms.MultiWidget):
    """Two figures on one line: requests, and in how many seconds."""

    def __init__(self, usual: list[int] | None = None) -> None:
        shape = {"class": "input n", "inputmode": "numeric", **TYPED}
        most, seconds = map(str, usual) if usual else ("", "")
        figures = [
            forms.TextInput(attrs={**shape, "placeholder": most}),
            forms.TextInput(attrs={**shape, "placeholder": seconds}),
        ]
        super().__init__(figures, attrs={"class": "input n"})

    def decompress(self, value: Any) -> list[Any]:
        return list(value) if value else ["", ""]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        parts = self.get_context(name, value, attrs)["widget"]["subwidgets"]
        first, second = (
            widget.render(part["name"], part["value"], part["attrs"], renderer)
            for widget, part in zip(self.widgets, parts, strict=True)
        )
        words = _("%(most)s requests in %(seconds)s seconds")
        return SafeString(words % {"most": first, "seconds": second})


class Pace(forms.MultiValueField):
    """[requests, seconds], or None: as the service documents it."""

    def __init__(self, *, usual: list[int] | None, label: Any) -> None:
        bounds = [(1, MOST_REQUESTS), (1, LONGEST_WINDOW)]
        parts = [forms.IntegerField(min_value=low, max_value=high) for low, high in bounds]
        super().__init__(
            parts, required=False, require_all_fields=False, widget=PaceInput(usual), label=label
        )
        names = [_("%(name)s, requests"), _("%(name)s, seconds")]
        for widget, words in zip(self.widget.widgets, names, strict=True):
            widget.attrs["aria-label"] = words % {"name": label}

    def clean(self, value: Any) -> list[int] | None:
        typed = [str(part or "").strip() for part in (value or ["", ""])]
        if not any(typed):
            return None
        try:
            kept = [field.clean(part) for field, part in zip(self.fields, typed, strict=True)]
        except ValidationError:
            kept = []
        if len(kept) != 2 or None in kept:
            raise ValidationError(
                _("Enter 1 to %(most)s requests and 1 to %(long)s seconds, or leave both empty.")
                % {"most": f"{MOST_REQUESTS:,}", "long": f"{LONGEST_WINDOW:,}"}
            )
        return kept

    def compress(self, data_list: Any) -> Any:
        return data_list or None
