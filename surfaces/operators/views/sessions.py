"""One's own sessions: where one is signed in, and signing out elsewhere."""

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.operators import sessions as verbs
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import rule_errors_as_toasts


@require_safe
def sessions(request: OperatorRequest) -> HttpResponse:
    found = verbs.sessions_of(request.user, request.session.session_key, now=timezone.now())
    return render(request, "surfaces/operators/sessions.html", {"found": found})


@require_POST
def end_session(request: OperatorRequest) -> HttpResponse:
    with rule_errors_as_toasts(request):
        name, here = request.POST.get("session", ""), request.session.session_key
        verbs.end(request.user, name, here)
        toasts.show_toast(request, _("Signed out there."))
    return redirect("surfaces:sessions")


@require_POST
def end_other_sessions(request: OperatorRequest) -> HttpResponse:
    verbs.end_others(request.user, request.session.session_key)
    update_session_auth_hash(request, request.user)
    toasts.show_toast(request, _("Signed out in all other browsers."))
    return redirect("surfaces:sessions")
