"""The controls of agents: those of every settings page, and a few of their own."""

from __future__ import annotations

from django import forms

from dialogue.tuning.values import KERNELS, LONGEST_PERSONA, MOST_KERNELS
from surfaces.controls import Lines, control, legible, number
from surfaces.forms import zones
from surfaces.knobs import Bounds, Column, Knob

__all__ = ["Bounds", "Column", "Lines", "legible", "made_of", "number"]


def made_of(column: Column, knob: Knob) -> forms.Field:
    """The control of the look for this value of an agent."""
    if knob.name == KERNELS:
        return Lines(most=MOST_KERNELS, longest=1_000)
    if column.get_internal_type() == "ArrayField":
        items: object = column
        return Lines(most=items.size, longest=items.base_field.max_length)  # type: ignore[attr-defined]
    if knob.name == "timezone":
        return forms.ChoiceField(choices=zones)
    if knob.name == "persona":
        text = forms.Textarea(attrs={"rows": 12, "dir": "auto"})
        return forms.CharField(required=False, max_length=LONGEST_PERSONA, widget=text)
    return control(column, knob.unit)
