"""One's own second factor: an authenticator app, passkeys, recovery codes."""

from collections.abc import Sequence
from contextlib import suppress

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from surfaces import crypto
from surfaces.operators import passkeys
from surfaces.operators import two_factor as verbs
from surfaces.operators.confirmation import password_confirmed, password_confirmed_to_read
from surfaces.operators.forms import CodeForm, PasskeyForm
from surfaces.operators.models.operator import Operator
from surfaces.operators.passkeys import Site
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import rule_errors_as_toasts, rule_errors_in_form

PENDING = "two_factor_to_be"  # in the session, sealed, until a code proves it arrived


def two_factor(request: OperatorRequest) -> HttpResponse:
    """What is set up; the way to set it up where nothing is."""
    if not request.user.has_two_factor:
        return two_factor_app(request)
    return _overview(request) if request.method != "POST" else redirect("surfaces:two_factor")


@require_http_methods(["GET", "HEAD", "POST"])
@password_confirmed
@sensitive_variables("secret", "codes")
def two_factor_app(request: OperatorRequest) -> HttpResponse:
    """The recovery codes stand on the answer to the first code only."""
    if request.user.has_totp:
        return redirect("surfaces:two_factor")
    secret, form = _pending(request), CodeForm(request.POST or None)
    if form.is_valid():
        with rule_errors_in_form(form, "code"):
            code = form.cleaned_data["code"]
            codes = verbs.switch_on(request.user, secret, code, now=timezone.now())
            request.session.pop(PENDING, None)
            return _added(request, codes)
    size, path = verbs.qr_code(verbs.provisioning_uri(request.user, secret))
    spelled = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    shown = {"form": form, "size": size, "path": path, "secret": spelled}
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/two_factor_setup.html", shown, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@password_confirmed_to_read
@sensitive_variables("codes")
def add_passkey(request: OperatorRequest) -> HttpResponse:
    """The challenge is the page's, so the password comes before the page."""
    form, site, now = PasskeyForm(request.POST or None), _site(request), timezone.now()
    if form.is_valid():
        given = form.cleaned_data
        with rule_errors_in_form(form):
            codes = passkeys.register(
                request.user, given["credential"], given["name"], site, request.session, now=now
            )
            return _added(request, codes)
    options = passkeys.registration_options(request.user, site, request.session, now=now)
    shown = {"form": form, "options": options}
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/passkey_add.html", shown, status=status)


@require_POST
@password_confirmed
def remove_passkey(request: OperatorRequest, pk: int) -> HttpResponse:
    get_object_or_404(request.user.passkeys, pk=pk)
    with rule_errors_as_toasts(request):
        passkeys.remove(request.user, pk)
        toasts.show_toast(request, _("Passkey removed."))
    is_on = Operator.objects.get(pk=request.user.pk).has_two_factor
    return redirect("surfaces:two_factor" if is_on else "surfaces:profile")


@require_http_methods(["GET", "HEAD", "POST"])
@password_confirmed
def renew_codes(request: OperatorRequest) -> HttpResponse:
    if request.method != "POST" or not request.user.has_two_factor:
        return redirect("surfaces:two_factor")
    return _overview(request, codes=verbs.renew_codes(request.user))


@require_http_methods(["GET", "HEAD", "POST"])
@password_confirmed
def switch_off(request: OperatorRequest) -> HttpResponse:
    if request.method != "POST" or not request.user.has_two_factor:
        return redirect("surfaces:two_factor")
    with rule_errors_as_toasts(request):
        verbs.switch_off(request.user, by=request.user.actor)
        words = _("Two-factor disabled. You now sign in with the password alone.")
        toasts.show_toast(request, words)
    return redirect("surfaces:profile")


def _added(request: OperatorRequest, codes: Sequence[str]) -> HttpResponse:
    """A factor more. With the first one, other browsers are signed out and codes are shown."""
    update_session_auth_hash(request, request.user)
    request.user = Operator.objects.get(pk=request.user.pk)
    return _overview(request, codes=codes)


def _site(request: OperatorRequest) -> Site:
    return Site.of(request.scheme or "http", request.get_host())


def _pending(request: OperatorRequest) -> str:
    """The secret that is being set up: the same one while somebody types its first code."""
    with suppress(crypto.InvalidToken):
        if kept := request.session.get(PENDING):
            return crypto.decrypt(kept.encode())
    secret = verbs.new_secret()
    request.session[PENDING] = crypto.encrypt(secret).decode()
    return secret


def _overview(request: OperatorRequest, *, codes: Sequence[str] = ()) -> HttpResponse:
    shown = {
        "codes": codes,
        "left": verbs.codes_left(request.user),
        "most": verbs.CODES,
        "passkeys": request.user.passkeys.all(),
    }
    return render(request, "surfaces/operators/two_factor.html", shown)
