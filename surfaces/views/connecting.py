"""Connect an account: the one form that takes a credential, and never gives it back."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from surfaces import connecting, forms, toasts
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken, SurfaceError
from surfaces.requests import OperatorRequest


@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def connect(request: OperatorRequest) -> HttpResponse:
    form = forms.ConnectForm(request.POST or None)
    if form.is_bound and form.is_valid():
        try:
            account = connecting.connect(
                **form.cleaned_data, by=request.user.actor, now=timezone.now()
            )
        except (RuleBroken, SurfaceError) as error:
            form.add_error(None, str(error))
        else:
            toasts.say(request, f"{account} is connected. Its first round comes in seconds.")
            return redirect("surfaces:account", account.pk)
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/connect.html", {"form": form}, status=status)
