"""The settings of an agent, its voice, and the budget of all, as forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _

from dialogue.forms import knobs
from dialogue.forms.fields import made_of, number
from dialogue.forms.small import MODES
from dialogue.models import HouseBudget, Presence
from dialogue.tuning.values import KERNELS, cleaned, column, field_of, is_list
from surfaces.errors import BadInput
from surfaces.knobs import Bounds, Column, Knob
from surfaces.tuned import Tuned

__all__ = ["HouseForm", "PresenceForm", "SettingsForm", "Tuned", "VoiceForm"]


class OfAgent(Tuned):
    """Checked as the verb checks, so that each refusal stands at its field."""

    tall = frozenset({KERNELS, "persona"})

    def column(self, name: str) -> Column:
        return column(name)

    def usual(self, name: str) -> Any:
        return [] if is_list(name) else super().usual(name)

    def made(self, knob: Knob) -> forms.Field:
        return made_of(column(knob.name), knob)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name, value in given.items():
            try:
                given[name] = cleaned(name, value)
            except BadInput as error:
                self.add_error(name, str(error))
        return given


class SettingsForm(OfAgent):
    parts = knobs.SETTINGS

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        _day_within_month(self, given)
        ends = ["active_from", "active_to"]
        empty = [name for name in ends if given.get(name) is None]
        if len(empty) == 1 and empty[0] not in self.errors:
            self.add_error(empty[0], _("Give both ends of the hours, or none."))
        return given


class VoiceForm(OfAgent):
    parts = knobs.VOICE


class HouseForm(Tuned):
    parts = knobs.HOUSE

    def column(self, name: str) -> Column:
        return field_of(HouseBudget, name)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        _day_within_month(self, given)
        return given


class PresenceForm(Tuned):
    """The share is in percent here; its column holds 0 to 1."""

    parts = knobs.PRESENCE

    def column(self, name: str) -> Column:
        return field_of(Presence, name)

    def bounds(self, name: str) -> Bounds:
        if name == "explore_share":
            return Bounds(0, 100, f"{self.usual(name)}")
        if name == "mode":
            return Bounds(0, None, "")
        return super().bounds(name)

    def usual(self, name: str) -> Any:
        usual = super().usual(name)
        return round(usual * 100) if name == "explore_share" else usual

    def made(self, knob: Knob) -> forms.Field:
        if knob.name == "mode":
            return forms.ChoiceField(required=False, choices=MODES, widget=forms.RadioSelect)
        if knob.name == "explore_share":
            share = models.PositiveSmallIntegerField(
                validators=[MinValueValidator(0), MaxValueValidator(100)]
            )
            return number(share, knob.unit)
        return super().made(knob)

    @staticmethod
    def kept(values: Mapping[str, Any]) -> dict[str, Any]:
        """As the columns have it."""
        return {**values, "explore_share": values["explore_share"] / 100}


def _day_within_month(form: Tuned, given: Mapping[str, Any]) -> None:
    for what in ("money", "tokens"):
        day, month = given.get(f"{what}_per_day"), given.get(f"{what}_per_month")
        if day is not None and month is not None and day > month:
            said = _("%(day)s is more than the month’s %(month)s.") % {
                "day": f"{day:,}",
                "month": f"{month:,}",
            }
            more = _("Enter less, or raise the month’s.")
            form.add_error(f"{what}_per_day", f"{said} {more}")
