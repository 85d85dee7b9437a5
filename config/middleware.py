"""What every request gets: an id for the logs, and headers that keep the browser honest."""

import re
import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from config.logs import request_id

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; manifest-src 'self'"
)
GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")
Respond = Callable[[HttpRequest], HttpResponse]


def assign_request_id(respond: Respond) -> Respond:
    """Give each request an id, ours or the proxy's, and say it in the answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        name = given if GIVEN.fullmatch(given) else secrets.token_hex(8)
        token = request_id.set(name)
        try:
            response = respond(request)
        finally:
            request_id.reset(token)
        response["X-Request-ID"] = name
        return response

    return middleware


def security_headers(respond: Respond) -> Respond:
    """Allow only what comes from here; nothing inline, nothing framed, nothing cached."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = respond(request)
        response.setdefault("Content-Security-Policy", POLICY)
        response.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        if not request.path.startswith("/static/"):
            response.setdefault("Cache-Control", "no-store")
        return response

    return middleware
