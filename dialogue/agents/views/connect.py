"""Connect an account. The credential is never sent back to the browser."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dialogue.agents import connect as agent_connect
from dialogue.agents.connect import ConnectResult
from dialogue.agents.forms.agent import ConnectForm
from surfaces.errors import RuleBroken, SurfaceError
from surfaces.operators.permissions import admin_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest


@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def connect(request: OperatorRequest) -> HttpResponse:
    form = ConnectForm(request.POST or None)
    if form.is_bound and form.is_valid():
        unset = {name: None for name in ("mode", "dialect") if not form.cleaned_data[name]}
        given: dict[str, Any] = {**form.cleaned_data, **unset}
        try:
            joined = agent_connect.connect(**given, by=request.user.actor, now=timezone.now())
        except (RuleBroken, SurfaceError) as error:
            form.add_error(None, str(error))
        else:
            words = _created(joined) if joined.account_is_new else _updated(joined, given)
            toasts.show_toast(request, words)
            return redirect("surfaces:account", joined.account.pk)
    status = 422 if form.is_bound else 200
    return render(request, "dialogue/agents/connect.html", {"form": form}, status=status)


def _created(joined: ConnectResult) -> str:
    words = _(
        "Connected %(account)s to %(agent)s. It is read for the first time within seconds."
    ) % {"account": joined.account, "agent": joined.agent}
    if not joined.agent.settings.is_autonomous:
        words += " " + _("To let the agent reply, switch on “Automatic replies”.")
    return f"{words} {joined.says}".strip()


def _updated(joined: ConnectResult, given: dict[str, Any]) -> str:
    words = _("Account %(account)s saved.") % {"account": joined.account}
    if given["token"]:
        words = _("New credential stored.")
    if not given["mode"] and not given["every"]:
        words += " " + _("Mode and poll interval are unchanged.")
    return words
