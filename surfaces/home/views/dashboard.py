"""Pages of Home."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.home import onboarding
from surfaces.home.dashboard import Dashboard
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back


@require_safe
def home(request: OperatorRequest) -> HttpResponse:
    shown = Dashboard(request, timezone.now())
    return render(request, "surfaces/home/dashboard.html", {"shell": shown.shell, "home": shown})


@require_safe
def more(request: OperatorRequest) -> HttpResponse:
    """The last tab on phones: navigation that is not in the bar."""
    return render(request, "surfaces/home/more.html")


@require_POST
def first_run(request: OperatorRequest) -> HttpResponse:
    """Hide or show the onboarding list, per operator."""
    is_over = request.POST.get("over") != "0"
    onboarding.dismiss(request.user, is_over=is_over)
    if is_over:
        toasts.show_toast(request, _("Setup hidden."), undo=reverse("surfaces:first_run"), over="0")
    return redirect_back(request, "surfaces:home")
