"""The big switch, from wherever it is pressed."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from surfaces import pausing, toasts
from surfaces.doors import may_decide
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences


@require_POST
@may_decide
def pause(request: OperatorRequest) -> HttpResponse:
    scope, subject = _meant(request)
    why = " ".join(request.POST.get("why", "").split())[:400] or "no reason given"
    with sentences(request):
        row = pausing.pause(scope, subject, why=why, by=request.user.actor, now=timezone.now())
        undo = reverse("surfaces:resume")
        toasts.say(request, f"{_named(scope, subject)} paused. Drafts wait.", undo=undo,
                   scope=row.scope, subject=row.subject)  # fmt: skip
    return back(request, "surfaces:home")


@require_POST
@may_decide
def resume(request: OperatorRequest) -> HttpResponse:
    scope, subject = _meant(request)
    with sentences(request):
        pausing.resume(scope, subject, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{_named(scope, subject)} resumed. What waited goes out.")
    return back(request, "surfaces:home")


def _meant(request: OperatorRequest) -> tuple[str, str]:
    """`scope` and `subject`, or both in one as `what`: "surface:moltbook"."""
    if what := request.POST.get("what", ""):
        scope, _, subject = what.partition(":")
        return scope, subject
    return request.POST.get("scope", ""), request.POST.get("subject", "")


def _named(scope: str, subject: str) -> str:
    return subject or "Everything"
