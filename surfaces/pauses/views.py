"""Pause and resume, from any page."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from surfaces.operators.permissions import moderator_required
from surfaces.pauses import scope as pause_scope
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import note, reason
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

LONGEST = 120  # characters of what is paused, as its row has them


@require_POST
@moderator_required
def pause(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    typed = " ".join(request.POST.get("why", "").split())[:400]
    why = note(typed) or reason("pause.no_reason")
    with rule_errors_as_toasts(request):
        by, now = request.user.actor, timezone.now()
        row = pause_services.pause(scope, subject, why=why, by=by, now=now)
        words = _("%(named)s: sending paused. Drafts are queued.") % {"named": _named(subject)}
        undo = reverse("surfaces:resume")
        toasts.show_toast(request, words, undo=undo, scope=row.scope, subject=row.subject)
    return redirect_back(request, "surfaces:home")


@require_POST
@moderator_required
def resume(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    with rule_errors_as_toasts(request):
        pause_services.resume(scope, subject, by=request.user.actor, now=timezone.now())
        words = _("%(named)s: sending resumed. Queued drafts will be sent.")
        toasts.show_toast(request, words % {"named": _named(subject)})
    return redirect_back(request, "surfaces:home")


def _within(request: OperatorRequest) -> tuple[str, str]:
    """What is meant, if that is within reach: a name outside is nobody's."""
    reach, given = request.user.reach, request.POST
    scope, subject = given.get("scope", ""), given.get("subject", "")
    if what := given.get("what", ""):  # both in one: "surface:moltbook"
        scope, _colon, subject = what.partition(":")
    scope, subject = scope[:LONGEST], subject[:LONGEST]
    if not pause_scope.may_see(reach, scope, subject):
        raise Http404
    if why := pause_scope.refusal(reach, scope, subject):
        raise PermissionDenied(why)
    return scope, subject


def _named(subject: str) -> str:
    return subject or _("Everything")
