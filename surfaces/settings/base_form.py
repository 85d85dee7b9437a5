"""Forms of settings: they know what was there when they were opened, and what changed last."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.db.models import BooleanField, Model
from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from surfaces.settings.changes import dump_marks, load_marks, mark_of, marks_of, to_json, to_text
from surfaces.settings.fields import Section, SettingField, by_name, default_of
from surfaces.settings.form_fields import as_typed, bounds_text, form_field, initial_of
from surfaces.settings.history import ChangedValue, History, HistoryEntry
from surfaces.settings.services import spec_of
from surfaces.text.format import one_line
from surfaces.text.reasons import FORMATS, label
from surfaces.web.forms import StyledForm

SEEN = "seen"  # the hidden field with a mark of each value as it was shown
MAX_TEXT = 80  # characters of a value in a sentence
COLON = re.compile("[:：]")


@dataclass(frozen=True, slots=True)
class BoundSetting:
    """A setting as the page shows it."""

    form: SettingsForm
    setting: SettingField
    field: forms.BoundField

    @property
    def is_choice(self) -> bool:
        return isinstance(self.field.field.widget, forms.RadioSelect)

    @property
    def bounds(self) -> str:
        return bounds_text(self.field.field)

    @property
    def anchor(self) -> str:
        """The id of its control, to link to."""
        return self.field.id_for_label or self.field.auto_id

    @property
    def default(self) -> str:
        return self.form.default_text(self.setting.name)

    @property
    def options(self) -> list[tuple[Any, str]]:
        """Each radio button with its short name."""
        return [(radio, short(radio.choice_label)) for radio in self.field]

    @property
    def can_reset(self) -> bool:
        """Whether there is a default, and the value shown is another one."""
        usual = self.form.default(self.setting.name)
        typed = as_typed(self.field.field, self.field.value())
        return bool(self.default) and typed != as_typed(self.field.field, usual)

    @property
    def is_tall(self) -> bool:
        return self.setting.name in self.form.tall

    @property
    def last(self) -> ChangedValue | None:
        entry = self.form.history.last(self.setting.name)
        return entry.value(self.setting.name) if entry else None

    @property
    def now(self) -> str:
        name = self.setting.name
        return self.form.display(name, to_json(self.form.current[name]))


class SettingsForm(StyledForm, forms.Form):
    sections: tuple[Section, ...] = ()
    tall: frozenset[str] = frozenset()  # names of fields over the whole width
    conflicts: tuple[str, ...] = ()  # what somebody else changed meanwhile, too
    notice = ""

    def __init__(self, row: Model, data: QueryDict | None = None) -> None:
        self.row, self.spec = row, spec_of(row)
        self.current = self.spec.read(row)
        # Fields are made for each form, in the language of the reader.
        self.base_fields = {}  # type: ignore[misc]
        for name, setting in by_name(self.sections).items():
            self.base_fields[name] = self.form_field(setting)
            self.base_fields[name].label = setting.label  # type: ignore[assignment]
        self.values = {name: self.current[name] for name in self.base_fields}
        initial = {name: initial_of(value) for name, value in self.values.items()}
        super().__init__(data, initial=initial)
        for name, field in self.fields.items():
            field.widget.attrs["aria-describedby"] = f"help-{name} bounds-{name} error-{name}"

    def form_field(self, setting: SettingField) -> forms.Field:
        return form_field(self.spec.column(setting.name), setting.unit)

    def default(self, name: str) -> Any:
        return default_of(self.spec.column(name))

    def default_text(self, name: str) -> str:
        """The default in a sentence; "" where there is nothing to say."""
        usual = self.default(name)
        is_choice = isinstance(self.fields[name], forms.ChoiceField)
        return "" if usual in ("", None, []) and not is_choice else self.display(name, usual)

    @cached_property
    def known_fields(self) -> dict[str, SettingField]:
        """What a change may name."""
        return by_name(self.sections)

    def field_named(self, name: str) -> SettingField:
        """Also for what is on another form, or on none."""
        return self.known_fields.get(name) or SettingField(name, label("fact", name).capitalize())

    def is_hidden(self, name: str) -> bool:
        """Can be set, but not on a page."""
        return self.spec.knows(name) and name not in self.known_fields

    def ordered(self, names: Collection[str]) -> list[str]:
        """As on the form, then those that are not on it."""
        return list(dict.fromkeys([*(n for n in self.known_fields if n in names), *names]))

    def names(self, names: Collection[str]) -> str:
        """Labels for a sentence, the first three."""
        labels = [str(self.field_named(name).label).lower() for name in self.ordered(names)]
        if (more := len(labels) - 3) > 0:
            labels[3:] = [_("%(more)d more") % {"more": more}]
        return FORMATS["list"](labels)

    def display(self, name: str, kept: Any) -> str:
        """A value as an audit event keeps it, for a sentence."""
        field: Any = self.fields.get(name)
        if hasattr(field, "display"):
            return str(field.display(kept))
        column = self.spec.column(name) if self.spec.knows(name) else None
        choices: Any = getattr(field, "choices", None) or getattr(column, "flatchoices", ())
        if not isinstance(kept, list) and (chosen := dict(choices).get(kept)):
            return short(chosen)
        if isinstance(kept, bool) or isinstance(column, BooleanField):
            return _("on") if kept else _("off")
        text = "; ".join(map(str, kept)) if isinstance(kept, list) else to_text(kept)
        if text.isascii() and text.isdigit():
            return f"{int(text):,}"
        return one_line(text, MAX_TEXT) or _("nothing")

    @cached_property
    def history(self) -> History:
        return History(self)

    def rows(self, section: Section | None = None) -> list[BoundSetting]:
        fields = by_name([section] if section else self.sections)
        return [BoundSetting(self, setting, self[name]) for name, setting in fields.items()]

    @property
    def parts(self) -> list[tuple[Section, HistoryEntry | None, list[BoundSetting]]]:
        """Each section with its last change."""
        last = self.history.last
        return [(part, last(*by_name([part])), self.rows(part)) for part in self.sections]

    @property
    def refused(self) -> list[BoundSetting]:
        return [row for row in self.rows() if row.field.errors]

    @property
    def seen(self) -> str:
        """A mark of each value as the person saw it. A refused form keeps those it came with."""
        return dump_marks(self.seen_marks() if self.is_bound else marks_of(self.values))

    def seen_marks(self) -> dict[str, str]:
        """What the person had before them. A form that does not say has seen nothing."""
        given = load_marks(str(self.data.get(SEEN, "")))
        return {name: given.get(name, "") for name in self.values}

    def rebased(self, row: Model, conflicts: Iterable[str]) -> Self:
        """The same form over the row as it is now; what the person left alone follows it."""
        now, seen = self.spec.read(row), self.seen_marks()
        kept = [name for name in self.values if mark_of(self.cleaned_data.get(name)) == seen[name]]
        marks = marks_of({name: now[name] for name in self.values})
        form = self._with({name: now[name] for name in kept}, row, seen=dump_marks(marks))
        form.conflicts = tuple(conflicts)
        return form

    def with_default(self, name: str) -> Self:
        """The same form, one value of it as a new row would have it."""
        return self._with({name: self.default(name)} if name in self.base_fields else {}, self.row)

    def changed_besides(self, name: str) -> bool:
        """Whether the person changed anything besides `name`. Of a form that is valid."""
        return bool(self.changed() - {name})

    def changed(self) -> set[str]:
        """What the person changed. Of a form that is valid."""
        values = self.values.items()
        return {
            name for name, value in values if mark_of(self.cleaned_data[name]) != mark_of(value)
        }

    def _with(self, values: Mapping[str, Any], row: Model, **more: str) -> Self:
        data = QueryDict(mutable=True)
        data.update(self.data)
        typed = {name: as_typed(self.base_fields[name], value) for name, value in values.items()}
        for name, text in {**typed, **more}.items():
            data[name] = text
            if not text and isinstance(self.base_fields.get(name), forms.BooleanField):
                del data[name]
        return type(self)(row, data)


def short(words: Any) -> str:
    """The short name of a choice: what stands before the colon."""
    return COLON.split(str(words))[0]
