"""Pages of activations: the list, and one with its transcript."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue.activations import listing as activation_listing
from dialogue.activations.models import Activation, ActivationState
from dialogue.agents import scope
from surfaces.web.requests import OperatorRequest


@require_safe
def activations(request: OperatorRequest) -> HttpResponse:
    given, reach = request.GET, request.user.reach
    shown = {
        "page": activation_listing.list_activations(given, now=timezone.now(), reach=reach),
        "agent": given.get("agent", "")[:64],
        "agents": dict(scope.agents_within(reach).values_list("slug", "name")),
        "state": given.get("state", ""),
        "states": ActivationState.choices,
    }
    return render(request, "dialogue/activations/list.html", shown)


@require_safe
def activation(request: OperatorRequest, pk: int) -> HttpResponse:
    along = ["agent", "presence__account__surface", "notification__message", "draft"]
    heavy = ["agent__persona", "notification__message__raw_json", "notification__message__search",
             "presence__account__sealed_credential", "presence__account__cursor"]  # fmt: skip
    reach = request.user.reach
    rows = Activation.objects.select_related(*along).defer(*heavy)
    rows = reach.narrow(rows, account="presence__account", agent="agent__slug")
    found = get_object_or_404(rows, pk=pk)
    shown = {
        "waking": activation_listing.ActivationRow(found, timezone.now()),
        "row": found,
        "agent": found.agent,
        "lines": [activation_listing.TranscriptRow(step) for step in found.steps.all()],
    }
    return render(request, "dialogue/activations/activation.html", shown)
