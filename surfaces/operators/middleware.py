"""Ask who somebody is, and activate the time zone and language of the operator."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation.trans_real import parse_accept_lang_header
from django_htmx.http import HttpResponseClientRedirect

from surfaces.settings import instance

Respond = Callable[[HttpRequest], HttpResponse]
STAYS_OPEN = {"surfaces:password", "surfaces:sign_out", "surfaces:sign_in", "surfaces:healthz"}


class SignInRequired(LoginRequiredMiddleware):
    """What was posted without a session is lost: the sign-in page says so and leads back."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        query = urlencode({"next": _page_before(request), "lost": "1"})
        return redirect(f"{reverse('surfaces:sign_in')}?{query}")


def _page_before(request: HttpRequest) -> str:
    """The page of ours that a form was sent from."""
    page, here = request.headers.get("Referer", ""), {request.get_host()}
    if not url_has_allowed_host_and_scheme(page, here, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(page)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def require_password_change(respond: Respond) -> Respond:
    """Redirect to the password page until a one-time password is changed."""

    def middleware(request: HttpRequest) -> HttpResponse:
        user = request.user
        if not (user.is_authenticated and user.owes_password) or _stays_open(request.path):
            return respond(request)
        place = reverse("surfaces:password")
        if request.headers.get("HX-Request"):
            return HttpResponseClientRedirect(place)
        return redirect(place)

    return middleware


def _stays_open(path: str) -> bool:
    with suppress(Resolver404):
        return resolve(path).view_name in STAYS_OPEN
    return False


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
