"""Forms made of knobs, that know what was there when they were opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import time
from typing import Any, Self, TypeVar

from django import forms
from django.http import QueryDict

from dialogue.forms import knobs
from dialogue.forms.fields import Bounds, Column, made_of
from dialogue.forms.knobs import Knob, Section
from dialogue.models import HouseBudget
from dialogue.tuning import in_words, mark_of
from dialogue.tuning.values import cleaned, column, field_of
from surfaces.errors import BadInput
from surfaces.forms import Dressed

TALL = {"kernels", "persona"}
SEEN = "seen"  # the hidden field with a mark of each value as it was


@dataclass(frozen=True, slots=True)
class Row:
    """A knob as the page shows it."""

    knob: Knob
    field: forms.BoundField
    bounds: Bounds

    @property
    def kind(self) -> str:
        widget = self.field.field.widget
        for shape, kind in (
            (forms.RadioSelect, "choice"),
            (forms.CheckboxInput, "switch"),
            (forms.Textarea, "text"),
            (forms.Select, "select"),
            (forms.TimeInput, "time"),
        ):
            if isinstance(widget, shape):
                return kind
        return "number" if "n" in str(widget.attrs.get("class", "")).split() else "words"

    @property
    def is_tall(self) -> bool:
        """Much is written into it, so it takes the whole width."""
        return self.knob.name in TALL

    @property
    def anchor(self) -> str:
        """The id of its control, to link to."""
        return self.field.id_for_label or self.field.auto_id

    @property
    def default(self) -> str:
        """As its control shows it."""
        said = self.bounds.default
        return said.capitalize() if self.kind == "choice" else said


class Tuned(Dressed, forms.Form):
    parts: tuple[Section, ...] = ()

    def __init__(self, values: Mapping[str, Any], data: QueryDict | None = None) -> None:
        self.values = {name: values[name] for name in self.base_fields}
        super().__init__(data, initial={name: _shown(value) for name, value in self.values.items()})

    @classmethod
    def knobs(cls) -> Iterator[Knob]:
        for section in cls.parts:
            yield from section.knobs

    @staticmethod
    def column(name: str) -> Column:
        return column(name)

    @property
    def sections(self) -> list[tuple[Section, list[Row]]]:
        return [(part, [self._row(knob) for knob in part.knobs]) for part in self.parts]

    def rows(self) -> list[Row]:
        return [self._row(knob) for knob in self.knobs()]

    @property
    def refused(self) -> list[Row]:
        return [row for row in self.rows() if row.field.errors]

    @property
    def refusal(self) -> str:
        """ "2 values are out of bounds"."""
        rows = self.refused
        what = "out of bounds" if all(row.kind == "number" for row in rows) else "not usable"
        return f"{len(rows)} {'value is' if len(rows) == 1 else 'values are'} {what}"

    def _row(self, knob: Knob) -> Row:
        return Row(knob, self[knob.name], Bounds.of(self.column(knob.name)))

    # ── what was there when it was opened ─────────────────────────────────

    @property
    def seen(self) -> str:
        """For the hidden field: a mark of each value as the person saw it, at first as it is now.

        A refused form comes back with what was typed over older values, so it keeps its marks.
        """
        return _told(self.was_seen() if self.is_bound else _marks(self.values))

    def was_seen(self) -> dict[str, str]:
        """What the person had before them. A form that does not say has seen nothing."""
        pairs = (part.partition("=") for part in str(self.data.get(SEEN, "")).split())
        given = {name: mark for name, _, mark in pairs}
        return {name: given.get(name, "") for name in self.values}

    def second_look(self, values: Mapping[str, Any], moved: Iterable[str]) -> Self:
        """The same form over what is there now; a value the person had left alone is theirs."""
        seen, data = self.was_seen(), QueryDict(mutable=True)
        data.update(self.data)
        for name in moved:
            if mark_of(self.cleaned_data.get(name)) == seen[name]:
                data.setlist(name, _as_posted(values[name]))
        data[SEEN] = _told(_marks(values))
        return type(self)(values, data)


Kind = TypeVar("Kind", bound=type[Tuned])


def of_knobs(kind: Kind) -> Kind:
    """Give a form one field for each of its knobs."""
    for knob in kind.knobs():
        field = kind.base_fields[knob.name] = made_of(kind.column(knob.name), knob)
        field.label = knob.label
    return kind


def _marks(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: mark_of(value) for name, value in values.items()}


def _told(marks: Mapping[str, str]) -> str:
    """For the hidden field; `was_seen` reads it back."""
    return " ".join(f"{name}={mark}" for name, mark in marks.items())


def _shown(value: Any) -> Any:
    """A value for its control: figures without empty decimals."""
    return value if isinstance(value, bool | list | time) else in_words(value)


def _as_posted(value: Any) -> list[str]:
    """A value as a browser would send it."""
    if isinstance(value, bool):
        return ["on"] if value else []
    if isinstance(value, list):
        return ["\n".join(value)]
    return [f"{value:%H:%M}" if isinstance(value, time) else in_words(value)]


class OfAgent(Tuned):
    """Checked as the verb checks, so that each refusal stands at its field."""

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name, value in given.items():
            try:
                given[name] = cleaned(name, value)
            except BadInput as error:
                self.add_error(name, str(error))
        return given


@of_knobs
class SettingsForm(OfAgent):
    parts = knobs.SETTINGS

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        _day_within_month(self, given)
        ends = ["active_from", "active_to"]
        empty = [name for name in ends if given.get(name) is None]
        if len(empty) == 1 and empty[0] not in self.errors:
            self.add_error(empty[0], "Give both ends of the hours, or none.")
        return given


@of_knobs
class VoiceForm(OfAgent):
    parts = knobs.VOICE


@of_knobs
class HouseForm(Tuned):
    parts = knobs.HOUSE

    @staticmethod
    def column(name: str) -> Column:
        return field_of(HouseBudget, name)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        _day_within_month(self, given)
        return given


def _day_within_month(form: Tuned, given: Mapping[str, Any]) -> None:
    for what in ("money", "tokens"):
        day, month = given.get(f"{what}_per_day"), given.get(f"{what}_per_month")
        if day is not None and month is not None and day > month:
            said = f"{day:,} is more than the month’s {month:,}."
            form.add_error(f"{what}_per_day", f"{said} Enter less, or raise the month’s.")
