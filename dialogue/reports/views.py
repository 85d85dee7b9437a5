"""Page of what one agent saw and did in the last 24 hours."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dialogue.dashboard.agents import frame
from surfaces.web.requests import OperatorRequest


@require_safe
def agent_reports(request: OperatorRequest, slug: str) -> HttpResponse:
    return render(request, "dialogue/reports/list.html", frame(request, slug, "reports"))
