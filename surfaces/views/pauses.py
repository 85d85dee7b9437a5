"""The big switch, from wherever it is pressed."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from surfaces import pausing, reaching, toasts
from surfaces.doors import may_decide
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences

LONGEST = 120  # characters of what is paused, as its row has them


@require_POST
@may_decide
def pause(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    why = " ".join(_posted(request, "why").split())[:400] or "no reason given"
    with sentences(request):
        row = pausing.pause(scope, subject, why=why, by=request.user.actor, now=timezone.now())
        undo = reverse("surfaces:resume")
        toasts.say(request, f"{_named(scope, subject)} paused. Drafts wait.", undo=undo,
                   scope=row.scope, subject=row.subject)  # fmt: skip
    return back(request, "surfaces:home")


@require_POST
@may_decide
def resume(request: OperatorRequest) -> HttpResponse:
    scope, subject = _within(request)
    with sentences(request):
        pausing.resume(scope, subject, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{_named(scope, subject)} resumed. What waited goes out.")
    return back(request, "surfaces:home")


def _within(request: OperatorRequest) -> tuple[str, str]:
    """What is meant, if that is within reach: a name outside is nobody's."""
    (scope, subject), reach = _meant(request), request.user.reach
    if not reaching.may_see(reach, scope, subject):
        raise Http404
    if why := reaching.refusal(reach, scope, subject):
        raise PermissionDenied(why)
    return scope, subject


def _meant(request: OperatorRequest) -> tuple[str, str]:
    """`scope` and `subject`, or both in one as `what`: "surface:moltbook"."""
    if what := _posted(request, "what"):
        scope, _, subject = what.partition(":")
        return scope[:LONGEST], subject[:LONGEST]
    return _posted(request, "scope")[:LONGEST], _posted(request, "subject")[:LONGEST]


def _posted(request: OperatorRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "")


def _named(scope: str, subject: str) -> str:
    return subject or "Everything"
