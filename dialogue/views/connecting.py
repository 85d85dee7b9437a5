"""Connect an agent: the one form that takes a credential, and never gives it back."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dialogue import joining
from dialogue.joining import Joined
from surfaces import adapters, toasts
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken, SurfaceError
from surfaces.forms import HANDLE, Dressed, minutes, modes
from surfaces.requests import OperatorRequest


class ConnectForm(Dressed, forms.Form):
    kind = forms.ChoiceField(label="Service", choices=adapters.kind_choices)
    base_url = forms.CharField(
        label="Address",
        required=False,
        max_length=300,
        help_text="Empty: the service's usual one. Else that of the place we mean.",
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url"}),
    )
    agent = forms.CharField(
        label="Agent",
        max_length=64,
        help_text="Short name of who will speak there: letters, digits, dashes. A new one"
        " answers by itself, as the mode says.",
        widget=forms.TextInput(attrs=HANDLE),
    )
    handle = forms.CharField(
        label="Handle",
        required=False,
        max_length=120,
        help_text="Our name on the service. Empty: the service tells us.",
        widget=forms.TextInput(attrs=HANDLE),
    )
    token = forms.CharField(
        label="Credential",
        required=False,
        max_length=4000,
        help_text="Kept encrypted and never shown again. The built-in hub needs none.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    every = minutes()
    mode = modes()


@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def connect(request: OperatorRequest) -> HttpResponse:
    form = ConnectForm(request.POST or None)
    if form.is_bound and form.is_valid():
        try:
            joined = joining.connect(**form.cleaned_data, by=request.user.actor, now=timezone.now())
        except (RuleBroken, SurfaceError) as error:
            form.add_error(None, str(error))
        else:
            toasts.say(request, _said(joined))
            return redirect("surfaces:account", joined.account.pk)
    status = 422 if form.is_bound else 200
    return render(request, "dialogue/connect.html", {"form": form}, status=status)


def _said(joined: Joined) -> str:
    speaks = f"{joined.agent} speaks as {joined.account}; the first round comes in seconds."
    if joined.agent.settings.is_autonomous:
        return speaks
    return f"{speaks} It answers when you switch that on."
