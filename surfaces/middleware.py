"""Times are shown in the zone of the person who looks."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

Respond = Callable[[HttpRequest], HttpResponse]


def operators_time_zone(respond: Respond) -> Respond:
    """Activate the operator's time zone for this one request."""

    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user
        if not user.is_authenticated:
            return respond(request)
        with timezone.override(user.zone):
            return respond(request)

    return middleware
