"""Run an agent now, because an operator wants it to."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dialogue.activations import services
from dialogue.agents.models.presence import Presence
from dialogue.dashboard.agents import agent_of
from surfaces.operators.permissions import moderator_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import redirect_back, rule_errors_as_toasts


@require_POST
@moderator_required
def run_agent(request: OperatorRequest, slug: str) -> HttpResponse:
    found, given = agent_of(request, slug), request.POST
    rows = Presence.objects.live().filter(agent=found).select_related("agent__settings", "account")
    rows = request.user.reach.narrow(rows, agent="")
    presence = get_object_or_404(rows, pk=int_param(given, "presence") or 0)
    purpose = given.get("purpose", "")
    with rule_errors_as_toasts(request):
        services.run_now(
            presence, purpose=purpose, task=given.get("task", "") if purpose == "task" else "",
            by=request.user.actor, now=timezone.now(),
        )  # fmt: skip
        words = _("Run of %(found)s requested. It begins as soon as a worker is free.")
        toasts.show_toast(request, words % {"found": found})
    return redirect_back(request, "dialogue:agent", slug)
