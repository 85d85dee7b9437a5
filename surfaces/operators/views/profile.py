"""The operator's own profile and password."""

from functools import partial

from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from surfaces.extension_points import end_waits
from surfaces.operators import confirmation
from surfaces.operators import forms as operator_forms
from surfaces.operators import sign_in as operator_sign_in
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, client_ip


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: OperatorRequest) -> HttpResponse:
    check = partial(
        operator_sign_in.check_password,
        request.user,
        address=client_ip(request),
        browser=confirmation.known(request),
        now=timezone.now(),
    )
    form = operator_forms.PasswordForm(request.user, request.POST or None, check=check)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "surfaces/operators/password.html", {"form": form}, status=status)
    operator_sign_in.change_password(request.user, form.cleaned_data["new_password1"])
    update_session_auth_hash(request, request.user)
    confirmation.remember(request.session, timezone.now())
    toasts.show_toast(request, _("Password changed. Other browsers are signed out."))
    return redirect("surfaces:home")


@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: OperatorRequest) -> HttpResponse:
    form = operator_forms.ProfileForm(request.POST or None, instance=request.user)
    if form.is_bound and form.is_valid():
        asked = confirmation.ask(request) if "email" in form.changed_data else None
        if asked:
            return asked
        with transaction.atomic():
            request.user.save(update_fields=form.changed_data)
            end_waits(request.user, *form.changed_data)
        words = _("Saved. Times are shown in %(time_zone)s.")
        toasts.show_toast(request, words % {"time_zone": request.user.time_zone})
        return redirect("surfaces:profile")
    status = 422 if form.is_bound else 200
    if form.is_bound:
        request.user.refresh_from_db()  # the frame shows who is signed in, not who was typed
    shown = {"form": form, "now": timezone.now()}
    return render(request, "surfaces/operators/profile.html", shown, status=status)
