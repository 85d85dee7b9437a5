"""The form that connects an agent to an account."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from surfaces import adapters
from surfaces.accounts.models.account import ReplyMode
from surfaces.web.forms import HANDLE_ATTRS, StyledForm


class ConnectForm(StyledForm, forms.Form):
    kind = forms.ChoiceField(label=_lazy("Service"), choices=adapters.kind_choices)
    base_url = forms.CharField(
        label=_lazy("Address"),
        required=False,
        max_length=300,
        help_text=_lazy("Empty: the service's usual one. Else that of the place we mean."),
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url"}),
    )
    agent = forms.CharField(
        label=_lazy("Agent"),
        max_length=64,
        help_text=_lazy(
            "Short name of who will speak there: letters, digits, dashes. A new one answers by "
            "itself, as the mode says."
        ),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
    )
    handle = forms.CharField(
        label=_lazy("Handle"),
        required=False,
        max_length=120,
        help_text=_lazy("Our name on the service. Empty: the service tells us."),
        widget=forms.TextInput(attrs=HANDLE_ATTRS),
    )
    token = forms.CharField(
        label=_lazy("Credential"),
        required=False,
        max_length=4000,
        help_text=_lazy("Kept encrypted and never shown again. The built-in hub needs none."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    every = forms.IntegerField(
        label=_lazy("Poll interval"),
        min_value=1,
        max_value=1440,
        initial=5,
        help_text=_lazy("How often the watcher looks for what is new."),
        error_messages={
            "min_value": _lazy("Enter 1 to 1440 minutes."),
            "max_value": _lazy("Enter 1 to 1440 minutes; 1440 is once a day."),
            "invalid": _lazy("Enter a whole number of minutes, 1 to 1440."),
        },
        widget=forms.NumberInput(attrs={"class": "input n"}),
    )
    mode = forms.ChoiceField(
        label=_lazy("Mode"),
        choices=ReplyMode.choices,
        initial=ReplyMode.REVIEW,
        widget=forms.RadioSelect,
    )
