"""The form that connects an agent to an account."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from surfaces import adapters
from surfaces.accounts.forms import minutes, modes
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
    every = minutes()
    mode = modes()
