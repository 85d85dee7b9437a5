"""Stones: what was laid and why, what it earned, and one of them with its scores."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue import presences
from dialogue.earning import drawing, listing, weeks
from dialogue.models import Activation, Stone
from dialogue.models.activation import Purpose
from dialogue.models.stone import MOST_TRIES
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest

LINES = 6
HEAVY = [*listing.HEAVY, "thread__raw_json", "thread__search", "draft__challenge"]


@require_safe
def stones(request: OperatorRequest) -> HttpResponse:
    given = {name: str(value).replace("\0", "") for name, value in request.GET.items()}
    reach = request.user.reach
    agents = dict(presences.agents_within(reach).values_list("slug", "name"))
    agent = given["agent"] if given.get("agent") in agents else ""
    zone = timezone.get_current_timezone()
    shown = {
        "page": listing.page(agent, given, reach),
        "picture": weeks.picture(agent, now=timezone.now(), zone=zone, reach=reach),
        "layers": listing.layers(agent, reach),
        "agents": agents.items(),
        "agent": agent,
    }
    return render(request, "dialogue/stones.html", shown)


@require_safe
def stone(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = Stone.objects.select_related(
        "presence__agent", "presence__account__surface", "draft__message", "thread", "kernel"
    )
    found = get_object_or_404(listing.within(rows.defer(*HEAVY), request.user.reach), pk=pk)
    shown = {
        "stone": found,
        "draw": drawing.draw(found),
        "earned": listing.earned([found]).get(found.pk, listing.Earned()),
        "wakings": _wakings(found),
        "most_tries": MOST_TRIES,
        "lines": AuditEvent.objects.about(found)[:LINES],
        "subject": name_of(found),
    }
    return render(request, "dialogue/stone.html", shown)


def _wakings(found: Stone) -> list[Activation]:
    """What was tried for it; a waking says why, and that is the stone's own reason."""
    rows = Activation.objects.filter(
        presence=found.presence_id,
        purpose=Purpose.STONE,
        why=found.why,
        started_at__gte=found.chosen_at,
    )
    return list(rows[:LINES])
