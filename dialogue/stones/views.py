"""Pages of stones: the list, and one with its scores."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue.activations.models import Activation, Purpose
from dialogue.agents import scope
from dialogue.stones.models import MOST_TRIES, Stone
from dialogue.stones.reports import draw, weekly
from dialogue.stones.reports import listing as reports_listing
from surfaces.audit.models import name_of
from surfaces.models import AuditEvent
from surfaces.web.requests import OperatorRequest

LINES = 6
HEAVY = [*reports_listing.HEAVY, "thread__raw_json", "thread__search", "draft__challenge"]


@require_safe
def stones(request: OperatorRequest) -> HttpResponse:
    reach = request.user.reach
    agents = dict(scope.agents_within(reach).values_list("slug", "name"))
    agent = request.GET.get("agent", "")
    agent = agent if agent in agents else ""
    zone = timezone.get_current_timezone()
    shown = {
        "page": reports_listing.list_stones(agent, request.GET, reach),
        "picture": weekly.weekly_chart(agent, now=timezone.now(), zone=zone, reach=reach),
        "layers": reports_listing.posting_presences(agent, reach),
        "agents": agents.items(),
        "agent": agent,
    }
    return render(request, "dialogue/stones/list.html", shown)


@require_safe
def stone(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = Stone.objects.select_related(
        "presence__agent", "presence__account__surface", "draft__message", "thread", "kernel"
    )
    found = get_object_or_404(reports_listing.within(rows.defer(*HEAVY), request.user.reach), pk=pk)
    # Activations of a stone are found by presence and reason.
    wakings = Activation.objects.filter(
        presence=found.presence_id, purpose=Purpose.STONE, why=found.why,
        started_at__gte=found.chosen_at,
    )  # fmt: skip
    shown = {
        "stone": found,
        "draw": draw.draw(found),
        "earned": reports_listing.earned([found]).get(found.pk, reports_listing.StoneEngagement()),
        "wakings": wakings[:LINES],
        "most_tries": MOST_TRIES,
        "lines": AuditEvent.objects.about(found)[:LINES],
        "subject": name_of(found),
    }
    return render(request, "dialogue/stones/stone.html", shown)
