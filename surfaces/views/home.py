"""Home: what waits, what is wrong, what happened today."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces import first_steps, toasts
from surfaces.overview import Home
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back


@require_safe
def home(request: OperatorRequest) -> HttpResponse:
    shown = Home(request, timezone.now())
    return render(request, "surfaces/home.html", {"shell": shown.shell, "home": shown})


@require_safe
def more(request: OperatorRequest) -> HttpResponse:
    """The phone's last tab: every place that is not in the bar."""
    return render(request, "surfaces/more.html")


@require_POST
def first_run(request: OperatorRequest) -> HttpResponse:
    """Put the list of first steps away, or take it out again. Everybody has their own."""
    is_over = request.POST.get("over") != "0"
    first_steps.put_away(request.user, is_over=is_over)
    if is_over:
        undo = reverse("surfaces:first_run")
        toasts.say(request, _("The first steps are put away."), undo=undo, over="0")
    return back(request, "surfaces:home")
