"""The tools of an agent: what it is offered, its grants, its last calls."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dialogue.dashboard.agents import frame
from dialogue.dashboard.tools import granted, last_calls, tools_of
from surfaces.web.requests import OperatorRequest


@require_safe
def agent_tools(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "tools")
    agent, one = shown["agent"], shown["one"]
    shown |= {
        "tools": tools_of(agent, one.presences),
        "grants": granted(agent),
        "calls": last_calls(agent, reach=request.user.reach),
    }
    return render(request, "dialogue/agents/tools.html", shown)
