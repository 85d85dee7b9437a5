"""Pages of activations: the list, and one with its transcript and its Stop."""

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dialogue.activations import listing as activation_listing
from dialogue.activations import services
from dialogue.activations.live import live_mark
from dialogue.activations.models import ActivationState, Purpose
from dialogue.activations.transcript import ActivationTranscript
from dialogue.agents import scope
from surfaces.operators.permissions import moderator_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts


@require_safe
def activations(request: OperatorRequest) -> HttpResponse:
    given, reach, now = request.GET, request.user.reach, timezone.now()
    asked, seen = activation_listing.filters(given), _moment(given.get("seen", "")) or now
    mark = live_mark(reach)  # before the rows: what changes between is shown again
    running = activation_listing.running_now(given, now=now, reach=reach)
    page = activation_listing.list_activations(given, now=now, reach=reach)
    shown = {
        "mark": mark,
        "running": running,
        "page": page,
        "is_first": not page.newer,
        "seen": seen.isoformat(),
        "ended_since": sum((waking.row.ended_at or seen) > seen for waking in page.rows),
        "agents": dict(scope.agents_within(reach).values_list("slug", "name")),
        "states": ActivationState.choices,
        "purposes": Purpose.choices,
        "asked": asked,
        "is_filtered": any(asked.values()),
    }
    return render(request, "dialogue/activations/list.html", shown)


def _moment(text: str) -> datetime | None:
    """When the open page was made that asks what ended since."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if timezone.is_naive(moment) else moment


@require_safe
def activation(request: OperatorRequest, pk: int) -> HttpResponse:
    reach = request.user.reach
    mark = live_mark(reach)  # before the rows: what changes between is shown again
    heavy = ["notification__message__raw_json", "notification__message__search"]
    rows = activation_listing.rows_within(reach).select_related(
        "agent__settings", "notification__message", "draft"
    )
    rows = rows.defer(None).defer(
        *heavy, "agent__persona", "agent__carried", "presence__account__sealed_credential",
        "presence__account__cursor",
    )  # fmt: skip
    waking = activation_listing.ActivationRow(get_object_or_404(rows, pk=pk), timezone.now())
    shown = {
        "mark": mark,
        "waking": waking,
        "row": waking.row,
        "agent": waking.row.agent,
        "one": ActivationTranscript(waking),
    }
    return render(request, "dialogue/activations/activation.html", shown)


@require_POST
@moderator_required
def stop_activation(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(activation_listing.rows_within(request.user.reach), pk=pk)
    with rule_errors_as_toasts(request):
        services.ask_stop(found, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Activation %(pk)s is being stopped.") % {"pk": pk})
    return redirect_back(request, "dialogue:activation", pk)
