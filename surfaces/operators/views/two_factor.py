"""One's own second factor: switch it on with a code, off with the password."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from surfaces import crypto
from surfaces.operators import sign_in
from surfaces.operators import two_factor as verbs
from surfaces.operators.forms import CodeForm, ReauthenticateForm
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, client_ip
from surfaces.web.responses import rule_errors_in_form

PENDING = "two_factor_to_be"  # in the session, sealed, until a code proves it arrived


@sensitive_variables("secret", "codes")
@require_http_methods(["GET", "HEAD", "POST"])
def two_factor(request: OperatorRequest) -> HttpResponse:
    """The recovery codes stand on the answer to the first code only."""
    if request.user.has_two_factor:
        return _on(request) if request.method != "POST" else redirect("surfaces:two_factor")
    secret, form = _pending(request), CodeForm(request.POST or None)
    if form.is_valid():
        with rule_errors_in_form(form, "code"):
            code = form.cleaned_data["code"]
            codes = verbs.switch_on(request.user, secret, code, now=timezone.now())
            request.session.pop(PENDING, None)
            update_session_auth_hash(request, request.user)
            return _on(request, codes=codes)
    size, path = verbs.qr_code(verbs.provisioning_uri(request.user, secret))
    spelled = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    shown = {"form": form, "size": size, "path": path, "secret": spelled}
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/two_factor_setup.html", shown, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def renew_codes(request: OperatorRequest) -> HttpResponse:
    return _after_password(request, lambda: _on(request, codes=verbs.renew_codes(request.user)))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def switch_off(request: OperatorRequest) -> HttpResponse:
    def off() -> HttpResponse:
        verbs.switch_off(request.user, by=request.user.actor)
        words = _("Two-factor disabled. You now sign in with the password alone.")
        toasts.show_toast(request, words)
        return redirect("surfaces:profile")

    return _after_password(request, off)


def _after_password(request: OperatorRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    if request.method != "POST" or not request.user.has_two_factor:
        return redirect("surfaces:two_factor")
    form = ReauthenticateForm(request.POST)
    if form.is_valid():
        given, now = form.cleaned_data["password"], timezone.now()
        with rule_errors_in_form(form, "password"):
            sign_in.check_password(request.user, given, address=client_ip(request), now=now)
            return act()
    return _on(request, form=form)


def _pending(request: OperatorRequest) -> str:
    """The secret that is being set up: the same one while somebody types its first code."""
    with suppress(crypto.InvalidToken):
        if kept := request.session.get(PENDING):
            return crypto.decrypt(kept.encode())
    secret = verbs.new_secret()
    request.session[PENDING] = crypto.encrypt(secret).decode()
    return secret


def _on(
    request: OperatorRequest, *, codes: Sequence[str] = (), form: ReauthenticateForm | None = None
) -> HttpResponse:
    shown = {
        "codes": codes,
        "left": verbs.codes_left(request.user),
        "most": verbs.CODES,
        "form": form or ReauthenticateForm(),
        "refused": form,
    }
    return render(request, "surfaces/operators/two_factor.html", shown, status=422 if form else 200)
