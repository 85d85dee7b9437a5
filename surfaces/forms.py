"""What people may enter, with bounds and sentences for when it is something else."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth.forms import PasswordChangeForm

from surfaces.models import Account, Operator
from surfaces.models.account import Mode

HANDLE = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class Dressed(forms.BaseForm):
    """Fields in our look; each names its help and its error to who cannot see them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if not isinstance(field.widget, forms.RadioSelect | forms.CheckboxInput):
                field.widget.attrs.setdefault("class", "input")
            field.widget.attrs["aria-describedby"] = f"help-{name} error-{name}"

    def full_clean(self) -> None:
        super().full_clean()
        for name in self.errors:
            if name in self.fields:
                self.fields[name].widget.attrs["aria-invalid"] = "true"


class PasswordForm(Dressed, PasswordChangeForm):
    """The old one once, the new one twice."""


def zones() -> list[tuple[str, str]]:
    return [(zone, zone.replace("_", " ")) for zone in sorted(available_timezones())]


class ProfileForm(Dressed, forms.ModelForm):  # type: ignore[type-arg]
    time_zone = forms.ChoiceField(
        label="Time zone", choices=zones, help_text="Every time on every page is shown in it."
    )

    class Meta:
        model = Operator
        fields = ["first_name", "last_name", "email", "time_zone"]


def minutes() -> forms.IntegerField:
    return forms.IntegerField(
        label="Read every",
        min_value=1,
        max_value=1440,
        initial=5,
        help_text="How often the watcher looks for what is new.",
        error_messages={
            "min_value": "Enter 1 to 1440 minutes.",
            "max_value": "Enter 1 to 1440 minutes; 1440 is once a day.",
            "invalid": "Enter a whole number of minutes, 1 to 1440.",
        },
        widget=forms.NumberInput(attrs={"class": "input n"}),
    )


def modes() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Mode", choices=Mode.choices, initial=Mode.REVIEW, widget=forms.RadioSelect
    )


class AccountForm(Dressed, forms.ModelForm):  # type: ignore[type-arg]
    every = minutes()
    mode = modes()

    class Meta:
        model = Account
        fields = ["every", "mode", "is_on"]
        widgets = {"is_on": forms.CheckboxInput(attrs={"class": "switch"})}
