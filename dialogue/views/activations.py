"""Wakings of agents: what runs, what ran, and one of them step by step."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue import presences
from dialogue.models import Activation
from dialogue.models.activation import State
from dialogue.overview import wakings
from surfaces.requests import OperatorRequest


@require_safe
def activations(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value) for name, value in request.GET.items()}
    reach = request.user.reach
    shown = {
        "page": wakings.page(given, now=timezone.now(), reach=reach),
        "agent": given.get("agent", "")[:64],
        "agents": dict(presences.agents_within(reach).values_list("slug", "name")),
        "state": given.get("state", ""),
        "states": State.choices,
    }
    return render(request, "dialogue/activations.html", shown)


@require_safe
def activation(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = Activation.objects.select_related(
        "agent", "presence__account__surface", "notification__message", "draft"
    )
    heavy = ["agent__persona", "notification__message__raw_json", "notification__message__search",
             "presence__account__sealed_credential", "presence__account__cursor"]  # fmt: skip
    reach = request.user.reach
    rows = reach.narrow(rows.defer(*heavy), account="presence__account", agent="agent__slug")
    found = get_object_or_404(rows, pk=pk)
    shown = {
        "waking": wakings.Waking(found, timezone.now()),
        "row": found,
        "agent": found.agent,
        "lines": [wakings.Line(step) for step in found.steps.all()],
    }
    return render(request, "dialogue/activation.html", shown)
