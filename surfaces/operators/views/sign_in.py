"""Pages for sign-in and sign-out."""

import secrets
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from surfaces.errors import NotAllowed, RuleBroken
from surfaces.operators import attempts, browsers, confirmation, passkeys
from surfaces.operators import sign_in as operator_sign_in
from surfaces.operators.models.operator import Operator
from surfaces.operators.permissions import MANAGES
from surfaces.operators.session_store import SessionStore
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, client_ip
from surfaces.web.responses import is_local_path

KNOWN_FOR = timedelta(days=90)
TOO_LATE = _lazy("The five minutes for the code are over. Sign in again.")


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: OperatorRequest) -> HttpResponse:
    if request.htmx:  # a fragment was asked for by somebody whose session is over
        asked = {"next": request.htmx.current_url_abs_path or "/"}
        then = urlencode(asked | ({"lost": "1"} if "lost" in request.GET else {}))
        return HttpResponseClientRedirect(f"{request.path}?{then}")
    if request.user.is_authenticated:
        return redirect(_wanted(request))
    if request.method != "POST":
        return render(request, "surfaces/operators/sign_in.html", {"next": _wanted(request)})
    try:
        operator = operator_sign_in.sign_in(
            request,
            username=request.POST.get("username", ""),
            password=request.POST.get("password", ""),
            address=client_ip(request),
            browser=confirmation.known(request),
            now=timezone.now(),
        )
    except RuleBroken as error:
        return _refused(request, "sign_in", error, next=_wanted(request))
    if operator.has_two_factor:
        then = _wanted(request)
        operator_sign_in.remember_pending(request.session, operator, then=then, now=timezone.now())
        return redirect("surfaces:sign_in_code")
    return _enter(request, operator, _wanted(request))


@login_not_required
@sensitive_post_parameters("code", "credential")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: OperatorRequest) -> HttpResponse:
    now = timezone.now()
    if request.user.is_authenticated:
        return redirect("surfaces:home")
    half = operator_sign_in.pending_second_factor(request.session, now=now)
    if half is None:
        shown = {"why": TOO_LATE, "next": "/"}
        return render(request, "surfaces/operators/sign_in.html", shown, status=422)
    operator, then = half
    if request.method != "POST":
        return _ask_for_factor(request, operator)
    try:
        _take_factor(request, operator, now)
    except RuleBroken as error:
        return _ask_for_factor(request, operator, error)
    operator_sign_in.forget_pending(request.session)
    return _enter(request, operator, then)


def _take_factor(request: OperatorRequest, operator: Operator, now: datetime) -> None:
    """A code, or the answer of a passkey."""
    where: dict[str, Any] = {
        "address": client_ip(request),
        "browser": confirmation.known(request),
        "now": now,
    }
    answer = request.POST.get("credential")
    if answer is None:
        operator_sign_in.check_code(operator, request.POST.get("code", ""), **where)
        return
    site = passkeys.Site.of(request.scheme or "http", request.get_host())
    take = partial(passkeys.verify, operator, answer, site, request.session, now=now)
    why = "operator.wrong_passkey"
    operator_sign_in.check_second_factor(operator, take, why=why, **where)


def _ask_for_factor(
    request: OperatorRequest, operator: Operator, error: RuleBroken | None = None
) -> HttpResponse:
    site = passkeys.Site.of(request.scheme or "http", request.get_host())
    options = ""
    if operator.passkeys.exists():
        now = timezone.now()
        options = passkeys.sign_in_options(operator, site, request.session, now=now)
    shown = {"options": options, "has_totp": operator.has_totp, "why": str(error or "")}
    status = 200 if error is None else 429 if isinstance(error, NotAllowed) else 422
    return render(request, "surfaces/operators/sign_in_code.html", shown, status=status)


def _enter(request: OperatorRequest, operator: Operator, then: str) -> HttpResponse:
    """Sign in, remember the browser, and say what failed since the last time."""
    now, cookie = timezone.now(), confirmation.known(request) or secrets.token_urlsafe(32)
    browser = browsers.describe(request.headers.get("User-Agent", ""))
    network = attempts.network_of(client_ip(request))
    failed = attempts.failures_since(operator, operator.last_login)
    cast(SessionStore, request.session).describe(browser=browser, network=network)
    login(request, operator)
    confirmation.remember(request.session, now)
    browsers.remember(operator, cookie, browser=browser, network=network, now=now)
    if failed:
        words = ngettext(
            "%(n)s failed sign-in to your account since you signed in last.",
            "%(n)s failed sign-ins to your account since you signed in last.",
            failed,
        )
        toasts.show_warning(request, words % {"n": failed})
    response = redirect(then)
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        cookie,
        max_age=KNOWN_FOR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@login_not_required
def admin_sign_in(request: OperatorRequest) -> HttpResponse:
    """The administration's own sign-in page is never shown."""
    if request.user.is_authenticated:
        raise PermissionDenied(MANAGES)
    return redirect(f"{reverse('surfaces:sign_in')}?{urlencode({'next': _wanted(request)})}")


@require_POST
def sign_out(request: OperatorRequest) -> HttpResponse:
    logout(request)
    return redirect("surfaces:sign_in")


def _wanted(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    return wanted if is_local_path(wanted) else "/"


def _refused(request: HttpRequest, page: str, error: RuleBroken, **shown: str) -> HttpResponse:
    status = 429 if isinstance(error, NotAllowed) else 422
    shown["why"] = str(error)
    return render(request, f"surfaces/operators/{page}.html", shown, status=status)
