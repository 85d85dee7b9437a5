"""Forms made of knobs, that know what was there when they were opened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import time
from typing import Any, Self

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surfaces.changes import heard, in_words, mark_of, marks_of, told
from surfaces.controls import Pace, control
from surfaces.forms import Dressed
from surfaces.history import History, Told
from surfaces.knobs import Bounds, Column, Knob, Section, default_value

SEEN = "seen"  # the hidden field with a mark of each value as it was
COLON = re.compile("[:：]")
DEFAULT = "default"  # the button that puts one value back to its default


@dataclass(frozen=True, slots=True)
class Row:
    """A knob as the page shows it."""

    knob: Knob
    field: forms.BoundField
    bounds: Bounds
    is_tall: bool  # much is written into it, so it takes the whole width
    is_usual: bool  # it shows the default
    last: Told | None  # how it became what it is

    @property
    def kind(self) -> str:
        if isinstance(self.field.field, Pace):
            return "pace"
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
    def anchor(self) -> str:
        """The id of its control, to link to."""
        if self.kind == "pace":
            return f"{self.field.auto_id}_0"
        return self.field.id_for_label or self.field.auto_id

    @property
    def default(self) -> str:
        """As its control shows it."""
        if isinstance(self.field.field, forms.ChoiceField):
            return self.choices.get(self.bounds.default, self.bounds.default.capitalize())
        return self.bounds.default

    @property
    def choices(self) -> dict[str, str]:
        """The short name of each choice: what stands before the colon."""
        found: Any = self.field.field
        return {str(value): COLON.split(str(label))[0] for value, label in found.choices}

    @property
    def options(self) -> list[tuple[Any, str]]:
        """Each radio button with its short name."""
        return [(radio, self.choices[str(radio.data["value"])]) for radio in self.field]

    @property
    def may_go_back(self) -> bool:
        """Whether there is a default, and it is another value."""
        return bool(self.default) and not self.is_usual


class Tuned(Dressed, forms.Form):
    parts: tuple[Section, ...] = ()
    tall: frozenset[str] = frozenset()
    history: History | None = None

    def __init__(self, values: Mapping[str, Any], data: QueryDict | None = None) -> None:
        # For each form anew, in the language of who looks.
        made = {knob.name: self._made(knob) for knob in self.knobs()}
        self.base_fields = made  # type: ignore[misc]
        self.values = {name: values[name] for name in self.base_fields}
        super().__init__(data, initial={name: _shown(value) for name, value in self.values.items()})
        for name, field in self.fields.items():
            field.widget.attrs["aria-describedby"] = f"help-{name} bounds-{name} error-{name}"

    @classmethod
    def knobs(cls) -> Iterator[Knob]:
        for section in cls.parts:
            yield from section.knobs

    def column(self, name: str) -> Column:
        raise NotImplementedError

    def bounds(self, name: str) -> Bounds:
        return Bounds.of(self.column(name))

    def usual(self, name: str) -> Any:
        """The default of a value."""
        return default_value(self.column(name))

    def made(self, knob: Knob) -> forms.Field:
        return control(self.column(knob.name), knob.unit)

    def _made(self, knob: Knob) -> forms.Field:
        field = self.made(knob)
        field.label = knob.label  # type: ignore[assignment]
        return field

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
        if all(row.kind == "number" for row in rows):
            words = ngettext(
                "%(count)d value is out of bounds", "%(count)d values are out of bounds", len(rows)
            )
        else:
            words = ngettext(
                "%(count)d value is not usable", "%(count)d values are not usable", len(rows)
            )
        return words % {"count": len(rows)}

    def _row(self, knob: Knob) -> Row:
        name = knob.name
        shown = self[name].value()
        return Row(
            knob=knob,
            field=self[name],
            bounds=self.bounds(name),
            is_tall=name in self.tall,
            is_usual=_as_posted(shown) == _as_posted(_shown(self.usual(name))),
            last=self.history.of(name) if self.history else None,
        )

    # ── what was there when it was opened ─────────────────────────────────

    @property
    def seen(self) -> str:
        """For the hidden field: a mark of each value as the person saw it, at first as it is now.

        A refused form comes back with what was typed over older values, so it keeps its marks.
        """
        return told(self.was_seen() if self.is_bound else marks_of(self.values))

    def was_seen(self) -> dict[str, str]:
        """What the person had before them. A form that does not say has seen nothing."""
        given = heard(str(self.data.get(SEEN, "")))
        return {name: given.get(name, "") for name in self.values}

    def second_look(self, values: Mapping[str, Any], moved: Iterable[str]) -> Self:
        """The same form over what is there now; a value the person had left alone is theirs."""
        seen, data = self.was_seen(), QueryDict(mutable=True)
        data.update(self.data)
        for name in moved:
            if mark_of(self.cleaned_data.get(name)) == seen[name]:
                self._fill(data, name, values[name])
        data[SEEN] = told(marks_of(values))
        return type(self)(values, data)

    # ── back to the default ───────────────────────────────────────────────

    def with_default(self, name: str) -> Self:
        """The same form, one value of it as a new row would have it."""
        data = QueryDict(mutable=True)
        data.update(self.data)
        if name in self.base_fields:
            self._fill(data, name, self.usual(name))
        return type(self)(self.values, data)

    def also_turned(self, name: str) -> bool:
        """Whether the person turned anything besides `name`. Of a form that is valid."""
        return any(
            in_words(self.cleaned_data[other]) != in_words(value)
            for other, value in self.values.items()
            if other != name
        )

    def _fill(self, data: QueryDict, name: str, value: Any) -> None:
        if isinstance(self.base_fields[name], Pace):
            for part, figure in enumerate(value or ["", ""]):
                data[f"{name}_{part}"] = str(figure)
            return
        data.setlist(name, _as_posted(_shown(value)))


def _shown(value: Any) -> Any:
    """A value for its control: figures without empty decimals."""
    return value if isinstance(value, bool | list | time) else in_words(value)


def _as_posted(value: Any) -> list[str]:
    """A value as a browser would send it."""
    if isinstance(value, bool):
        return ["on"] if value else []
    if isinstance(value, list):
        return ["\n".join(str(item) for item in value)] if value else [""]
    if isinstance(value, time):
        return [f"{value:%H:%M}"]
    return [] if value is None else [str(value).strip().replace("\r\n", "\n")]


def filled_in(form: Tuned, name: str) -> str:
    """What the page says when a default was filled in beside other values not saved yet."""
    label = next((knob.label for knob in form.knobs() if knob.name == name), "")
    return _("%(label)s is at its default below. Nothing is saved yet.") % {"label": label}
