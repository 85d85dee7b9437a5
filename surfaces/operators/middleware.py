"""Ask who somebody is, and activate the time zone and language of the operator."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation.trans_real import parse_accept_lang_header
from django_htmx.http import HttpResponseClientRedirect

from surfaces.operators.attempts import network_of
from surfaces.operators.browsers import describe
from surfaces.operators.models.session import OperatorSession
from surfaces.settings import instance
from surfaces.web.requests import client_ip
from surfaces.web.responses import page_before

Respond = Callable[[HttpRequest], HttpResponse]
STAYS_OPEN = {"surfaces:password", "surfaces:sign_out", "surfaces:sign_in", "surfaces:healthz"}
SETS_UP = STAYS_OPEN | {"surfaces:two_factor", "surfaces:two_factor_app", "surfaces:add_passkey"}
SEEN_EVERY = timedelta(minutes=5)  # when a session was seen is written no oftener


class SignInRequired(LoginRequiredMiddleware):
    """What was posted without a session is lost: the sign-in page says so and leads back."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        query = urlencode({"next": page_before(request), "lost": "1"})
        return redirect(f"{reverse('surfaces:sign_in')}?{query}")


def require_setup(respond: Respond) -> Respond:
    """Lead to the password page until a one-time password is changed, then to the page of the
    second factor while the role requires one that is not set up.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        user, place = request.user, ""
        if user.is_authenticated and user.owes_password:
            place = "" if _is_open(request.path, STAYS_OPEN) else "surfaces:password"
        elif user.is_authenticated and user.lacks_two_factor:
            place = "" if _is_open(request.path, SETS_UP) else "surfaces:two_factor"
        if not place:
            return respond(request)
        if request.headers.get("HX-Request"):
            return HttpResponseClientRedirect(reverse(place))
        return redirect(place)

    return middleware


def _is_open(path: str, names: set[str]) -> bool:
    with suppress(Resolver404):
        return resolve(path).view_name in names
    return False


def note_session_seen(respond: Respond) -> Respond:
    """Write when and from where a session was seen last. Most requests write nothing."""

    def middleware(request: HttpRequest) -> HttpResponse:
        row, now = getattr(request.session, "row", None), timezone.now()
        if request.user.is_authenticated and row and row.seen_at <= now - SEEN_EVERY:
            facts = {"seen_at": now, "network": network_of(client_ip(request))}
            facts["browser"] = row.browser or describe(request.headers.get("User-Agent", ""))
            rows = OperatorSession.objects.filter(pk=row.pk)
            rows.update(operator=request.user, **facts)
            for name, value in facts.items():
                setattr(row, name, value)  # or a save of the session would write the old ones
        return respond(request)

    return middleware


def activate_time_zone(respond: Respond) -> Respond:
    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user
        with timezone.override(user.zone if user.is_authenticated else None):
            return respond(request)

    return middleware


def activate_language(respond: Respond) -> Respond:
    def middleware(request: HttpRequest) -> HttpResponse:
        language = language_of(request)
        with translation.override(language):
            request.LANGUAGE_CODE = language
            response = respond(request)
        patch_vary_headers(response, ("Accept-Language",))
        response.headers.setdefault("Content-Language", language)
        return response

    return middleware


def language_of(request: HttpRequest) -> str:
    """What the operator set; else the browser's first that we know; else the house's."""
    user = request.user
    if user.is_authenticated and user.language:
        return user.language
    header = request.headers.get("Accept-Language", "")
    for code, _ in parse_accept_lang_header(header):
        with suppress(LookupError):
            return translation.get_supported_language_variant(code)
    # A program asks for no language: English.
    return instance.current().language if header else settings.LANGUAGE_CODE
