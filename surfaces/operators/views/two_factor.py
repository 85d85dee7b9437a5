"""One's own second factor: switch it on with a code, off with the password."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from surfaces import crypto
from surfaces.errors import RuleBroken
from surfaces.operators import sign_in
from surfaces.operators import two_factor as verbs
from surfaces.operators.forms import CodeForm, ReauthenticateForm
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, client_ip

PENDING = "two_factor_to_be"  # in the session, sealed, until a code proves it arrived


@sensitive_variables("secret", "codes")
@require_http_methods(["GET", "HEAD", "POST"])
def two_factor(request: OperatorRequest) -> HttpResponse:
    """The recovery codes stand on the answer to the first code only."""
    if request.user.has_two_factor:
        return _on(request) if request.method != "POST" else redirect("surfaces:two_factor")
    secret, form = _pending(request), CodeForm(request.POST or None)
    if form.is_bound and form.is_valid():
        try:
            code = form.cleaned_data["code"]
            codes = verbs.switch_on(request.user, secret, code, now=timezone.now())
        except RuleBroken as error:
            form.add_error("code", str(error))
        else:
            request.session.pop(PENDING, None)
            update_session_auth_hash(request, request.user)
            return _on(request, codes=codes)
    return _off(request, secret, form)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def renew_codes(request: OperatorRequest) -> HttpResponse:
    return _after_password(request, lambda: _on(request, codes=verbs.renew_codes(request.user)))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def switch_off(request: OperatorRequest) -> HttpResponse:
    def off() -> HttpResponse:
        verbs.switch_off(request.user, by=request.user.actor)
        toasts.show_toast(
            request, _("Two-factor disabled. You now sign in with the password alone.")
        )
        return redirect("surfaces:profile")

    return _after_password(request, off)


def _after_password(request: OperatorRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """Act when the password was given again, or show why not."""
    if request.method != "POST" or not request.user.has_two_factor:
        return redirect("surfaces:two_factor")
    form = ReauthenticateForm(request.POST)
    if form.is_valid():
        given, now = form.cleaned_data["password"], timezone.now()
        try:
            sign_in.check_password(request.user, given, address=client_ip(request), now=now)
            return act()
        except RuleBroken as error:
            form.add_error("password", str(error))
    return _on(request, form=form)


def _pending(request: OperatorRequest) -> str:
    """The secret that is being set up: the same one while somebody types its first code."""
    try:
        if kept := request.session.get(PENDING):
            return crypto.decrypt(kept.encode())
    except crypto.InvalidToken:
        pass
    secret = verbs.new_secret()
    request.session[PENDING] = crypto.encrypt(secret).decode()
    return secret


def _off(request: OperatorRequest, secret: str, form: CodeForm) -> HttpResponse:
    size, path = verbs.qr_code(verbs.provisioning_uri(request.user, secret))
    spelled = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    shown = {"form": form, "size": size, "path": path, "secret": spelled}
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/two_factor_setup.html", shown, status=status)


def _on(
    request: OperatorRequest,
    *,
    codes: list[str] | None = None,
    form: ReauthenticateForm | None = None,
) -> HttpResponse:
    shown = {
        "codes": codes or [],
        "left": verbs.codes_left(request.user),
        "most": verbs.CODES,
        "form": form or ReauthenticateForm(),
        "refused": form,
    }
    return render(request, "surfaces/operators/two_factor.html", shown, status=422 if form else 200)
