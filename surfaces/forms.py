"""What people may enter, with bounds and sentences for when it is something else."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.utils.translation import gettext_lazy as _

from surfaces.models import Operator, Surface
from surfaces.models.account import Mode
from surfaces.models.api_key import KeyScope
from surfaces.models.operator import Role
from surfaces.operators import agent_choices

CHOSEN = (forms.RadioSelect, forms.CheckboxInput, forms.CheckboxSelectMultiple)
HANDLE = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class Dressed(forms.BaseForm):
    """Fields in our look; each names its help and its error to who cannot see them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if not isinstance(field.widget, CHOSEN):
                field.widget.attrs.setdefault("class", "input")
            field.widget.attrs["aria-describedby"] = f"help-{name} error-{name}"

    def full_clean(self) -> None:
        super().full_clean()
        for name in self.errors:
            if name in self.fields:
                self.fields[name].widget.attrs["aria-invalid"] = "true"


class CodeForm(Dressed, forms.Form):
    """Six digits, or a recovery code; whether it is right is asked where it is taken."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits. They change every 30 s."),
        widget=forms.TextInput(
            attrs={
                **HANDLE,
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "class": "input n",
            }
        ),
    )


class AgainForm(Dressed, forms.Form):
    """The password once more, before something that weakens the door."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


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
        fields = ["first_name", "last_name", "email", "language", "time_zone"]
        help_texts = {"language": _("Of every page, for you.")}


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


class Limits(Dressed, forms.Form):
    """Some surfaces, some agents. Nothing chosen is no limit."""

    surfaces = forms.MultipleChoiceField(
        label=_("Only these surfaces"),
        required=False,
        help_text=_("None chosen: every surface."),
        widget=forms.CheckboxSelectMultiple,
    )
    agents = forms.MultipleChoiceField(
        label=_("Only these agents"),
        required=False,
        help_text=_("None chosen: every agent. Else only accounts where these may speak."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        places = Surface.objects.order_by("name").values_list("slug", "name")
        for name, choices in (("surfaces", list(places)), ("agents", agent_choices())):
            field = self.fields[name]
            field.choices = choices  # type: ignore[attr-defined]


class RoleForm(Limits):
    """What somebody may, and on what."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, widget=forms.RadioSelect)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    field_order = ["role", "surfaces", "agents"]


class OperatorForm(RoleForm):
    """Somebody new."""

    username = forms.CharField(
        label=_("Signs in as"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _; small letters are easiest to type."),
        widget=forms.TextInput(attrs=HANDLE),
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=150)
    email = forms.EmailField(label=_("Mail"), required=False, help_text=_("For notices."))

    field_order = ["username", "name", "email", "role", "surfaces", "agents"]


DAYS = [(30, _("30 days")), (90, _("90 days")), (365, _("1 year")), (0, _("never"))]


class KeyForm(Limits):
    """A key for a program."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What uses it, so that you know later.")
    )
    owner = forms.ChoiceField(
        label=_("Belongs to"), help_text=_("It never may more than its owner.")
    )
    scope = forms.ChoiceField(
        label=_("Scope"),
        choices=KeyScope.choices,
        initial=KeyScope.READ,
        widget=forms.RadioSelect,
    )
    days = forms.TypedChoiceField(label=_("Expires"), choices=DAYS, coerce=int, initial=90)

    field_order = ["name", "owner", "scope", "days", "surfaces", "agents"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = Operator.objects.filter(is_active=True).order_by("username")
        owners = [
            (_("Operators"), [(f"operator:{one.pk}", one.name) for one in people]),
            (_("Agents"), [(f"agent:{slug}", name) for slug, name in agent_choices()]),
        ]
        self.fields["owner"].choices = owners  # type: ignore[attr-defined]

    def owned(self) -> tuple[Operator | None, str]:
        """The operator, or the agent's slug."""
        kind, _kind, key = str(self.cleaned_data["owner"]).partition(":")
        if kind == "agent":
            return None, key
        return Operator.objects.filter(pk=int(key)).first(), ""
