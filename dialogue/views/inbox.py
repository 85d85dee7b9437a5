"""The inbox of one agent: what came, what was decided, and why."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue.overview import inboxes
from dialogue.views.agents import frame
from surfaces.requests import OperatorRequest


@require_safe
def agent_inbox(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "inbox")
    given = {name: str(value) for name, value in request.GET.items()}
    page = inboxes.page(shown["agent"], given, now=timezone.now(), reach=request.user.reach)
    tabs = [(name, label, name == page.tab) for name, (label, _) in inboxes.TABS.items()]
    return render(request, "dialogue/agent_inbox.html", shown | {"page": page, "tabs": tabs})
