"""Home: what waits, what is wrong, what happened today."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from surfaces import overview
from surfaces.requests import OperatorRequest


@require_safe
def home(request: OperatorRequest) -> HttpResponse:
    shown = {
        "today": overview.today(_midnight()),
        "on_its_way": overview.on_its_way(),
    }
    return render(request, "surfaces/home.html", shown)


@require_safe
def more(request: OperatorRequest) -> HttpResponse:
    """The phone's last tab: every place that is not in the bar."""
    return render(request, "surfaces/more.html")


def _midnight() -> datetime:
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
