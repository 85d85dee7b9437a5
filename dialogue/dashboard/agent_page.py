"""What every page of one agent shows around its own content."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone

from dialogue.agents import scope
from dialogue.agents.models.agent import Agent
from dialogue.dashboard import agents as overview
from surfaces.home.frame import PageFrame
from surfaces.web.requests import OperatorRequest


def agent_of(request: OperatorRequest, slug: str) -> Agent:
    rows = scope.agents_within(request.user.reach).select_related("settings")
    return get_object_or_404(rows, slug=slug)


def frame(
    request: OperatorRequest, slug: str, tab: str, found: Agent | None = None
) -> dict[str, Any]:
    """What every page of one agent shows around its own content."""
    shell, found = PageFrame(request), found or agent_of(request, slug)
    one = overview.AgentOverview(
        found, shell.pauses, midnight=midnight(), now=timezone.now(), reach=request.user.reach
    )
    return {"shell": shell, "one": one, "agent": found, "tab": tab}


def midnight() -> datetime:
    """Of the person who looks."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
