"""Run an agent now, because an operator wants it to."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dialogue.activations import services
from dialogue.agents.forms.run import RunForm
from dialogue.agents.forms.settings import MODES
from dialogue.agents.models.presence import Presence
from dialogue.dashboard.agents import agent_of, frame
from surfaces.errors import BadInput, RuleBroken
from surfaces.operators.permissions import moderator_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import redirect_back


@require_http_methods(["GET", "HEAD", "POST"])
@moderator_required
def run_agent(request: OperatorRequest, slug: str) -> HttpResponse:
    """What cannot be asked for is said in the form, on the overview, with what was typed."""
    found, form = agent_of(request, slug), RunForm(request.POST)
    if request.method != "POST":  # a link of that response was followed
        return redirect("dialogue:agent", slug)
    rows = Presence.objects.live().filter(agent=found).select_related("agent__settings", "account")
    rows = request.user.reach.narrow(rows, agent="")
    presence = get_object_or_404(rows, pk=int_param(request.POST, "presence") or 0)
    if form.is_valid():
        try:
            services.run_now(
                presence, **form.cleaned_data, by=request.user.actor, now=timezone.now()
            )
        except RuleBroken as error:
            form.add_error("task" if isinstance(error, BadInput) else None, str(error))
        else:
            words = _("Run of %(found)s requested. It begins as soon as a worker is free.")
            toasts.show_toast(request, words % {"found": found})
            return redirect_back(request, "dialogue:agent", slug)
    shown = frame(request, slug, "overview", found)
    shown |= {"modes": MODES, "run": form, "run_through": presence}
    return render(request, "dialogue/agents/overview.html", shown, status=422)
