"""Coming in, going out, and the pages for when something is in the way."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from surfaces import forms, signing_in, toasts
from surfaces.doors import MANAGES
from surfaces.errors import NotAllowed, RuleBroken
from surfaces.requests import OperatorRequest
from surfaces.views.acting import is_ours

TOO_LATE = "The five minutes for the code are over. Sign in again."


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: OperatorRequest) -> HttpResponse:
    if request.htmx:  # a fragment was asked for by somebody whose session is over
        return HttpResponseClientRedirect(f"{request.path}?{_then(request)}")
    if request.user.is_authenticated:
        return redirect(_wanted(request))
    if request.method != "POST":
        return render(request, "surfaces/sign_in.html", {"next": _wanted(request)})
    try:
        operator = signing_in.sign_in(
            request,
            username=_typed(request, "username"),
            password=_typed(request, "password"),
            address=address_of(request),
            now=timezone.now(),
        )
    except RuleBroken as error:
        shown = {"why": str(error), "next": _wanted(request)}
        status = 429 if isinstance(error, NotAllowed) else 422
        return render(request, "surfaces/sign_in.html", shown, status=status)
    if operator.has_two_factor:
        then = _wanted(request)
        signing_in.remember_half(request.session, operator, then=then, now=timezone.now())
        return redirect("surfaces:sign_in_code")
    login(request, operator)
    return redirect(_wanted(request))


@login_not_required
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: OperatorRequest) -> HttpResponse:
    """The second page of the door, for who has a second factor."""
    now = timezone.now()
    if request.user.is_authenticated:
        return redirect("surfaces:home")
    half = signing_in.half_signed_in(request.session, now=now)
    if half is None:
        shown = {"why": TOO_LATE, "next": "/"}
        return render(request, "surfaces/sign_in.html", shown, status=422)
    operator, then = half
    if request.method != "POST":
        return render(request, "surfaces/sign_in_code.html")
    try:
        code = _typed(request, "code")
        signing_in.check_code(operator, code, address=address_of(request), now=now)
    except RuleBroken as error:
        status = 429 if isinstance(error, NotAllowed) else 422
        return render(request, "surfaces/sign_in_code.html", {"why": str(error)}, status=status)
    signing_in.forget_half(request.session)
    login(request, operator)
    return redirect(then)


def _typed(request: HttpRequest, name: str) -> str:
    """No row can hold a NUL; with a mark in its place it is nobody's name still."""
    return str(request.POST.get(name, "")).replace("\0", "\ufffd")


@login_not_required
def admin_door(request: OperatorRequest) -> HttpResponse:
    """The administration's own sign-in page is never shown."""
    if request.user.is_authenticated:
        raise PermissionDenied(MANAGES)
    return redirect(f"{reverse('surfaces:sign_in')}?{urlencode({'next': _wanted(request)})}")


@require_POST
def sign_out(request: OperatorRequest) -> HttpResponse:
    logout(request)
    return redirect("surfaces:sign_in")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: OperatorRequest) -> HttpResponse:
    form = forms.PasswordForm(request.user, request.POST or None)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "surfaces/password.html", {"form": form}, status=status)
    signing_in.change_password(request.user, form.cleaned_data["new_password1"])
    update_session_auth_hash(request, request.user)
    toasts.say(request, "Password changed. Other browsers are signed out.")
    return redirect("surfaces:home")


@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: OperatorRequest) -> HttpResponse:
    form = forms.ProfileForm(request.POST or None, instance=request.user)
    if form.is_bound and form.is_valid():
        request.user.save(update_fields=form.changed_data)
        toasts.say(request, f"Saved. Times are shown in {request.user.time_zone}.")
        return redirect("surfaces:profile")
    status = 422 if form.is_bound else 200
    if form.is_bound:
        request.user.refresh_from_db()  # the frame shows who is signed in, not who was typed
    shown = {"form": form, "now": timezone.now()}
    return render(request, "surfaces/profile.html", shown, status=status)


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether this process can do its work: it can if it reaches the database."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"ok": False, "database": "not reached"}, status=503)
    return JsonResponse({"ok": True, "database": "reached"})


def _wanted(request: HttpRequest) -> str:
    """Where to go after the door: only to our own pages."""
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    return wanted if is_ours(wanted) else "/"


def _then(request: OperatorRequest) -> str:
    return urlencode({"next": request.htmx.current_url_abs_path or "/"})


def address_of(request: HttpRequest) -> str:
    """Who asks. Behind a proxy (https) its last word in X-Forwarded-For, never an earlier one."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    if settings.SECURE_PROXY_SSL_HEADER and forwarded:
        return forwarded.rsplit(",", 1)[-1].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


# ── in the way ────────────────────────────────────────────────────────────


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _stop(
        403,
        "The form was too old",
        "Its safety mark did not match, so nothing was done. Go back, load the page again, "
        "and repeat what you did.",
    )


@login_not_required
def not_allowed(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    why = str(exception or "") or "Your role does not allow this."
    return _stop(403, "Not allowed for your role", f"{why} Nothing was done.")


@login_not_required
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _stop(404, "There is nothing here", "The address is wrong, or the row was taken away.")


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    return _stop(
        500,
        "Something broke on our side",
        "It is in the log. What you did may not have happened: look before you repeat it.",
    )


def _stop(status: int, title: str, words: str) -> HttpResponse:
    """Say why it stopped, without asking the database: it may be the reason."""
    shown = {"title": title, "words": words, "status": status}
    return HttpResponse(render_to_string("surfaces/stop.html", shown), status=status)
