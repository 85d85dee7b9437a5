"""Pages of operators, for administrators."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces.audit.models import AuditEvent, name_of
from surfaces.operators import services as verbs
from surfaces.operators.confirmation import password_confirmed
from surfaces.operators.forms import OperatorForm, RoleForm
from surfaces.operators.models.operator import Operator
from surfaces.operators.permissions import admin_required
from surfaces.settings.changes import dump_marks, load_marks, marks_of
from surfaces.settings.form_views import posted_event
from surfaces.settings.services import can_undo, events_of, values_of
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import rule_errors_as_toasts, rule_errors_in_form

LINES = 8


@require_safe
@admin_required
def operators(request: OperatorRequest) -> HttpResponse:
    found = Operator.objects.prefetch_related("surfaces").order_by("-is_active", "username")
    return render(request, "surfaces/operators/list.html", {"found": found})


@sensitive_variables("handed")
@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
@password_confirmed
def new_operator(request: OperatorRequest) -> HttpResponse:
    """The password that is handed over stands on this answer only."""
    form = OperatorForm(request.POST or None, initial={"role": "viewer"})
    if form.is_valid():
        given = {name: value for name, value in form.cleaned_data.items() if name != "seen"}
        with rule_errors_in_form(form):
            handed = verbs.add(**given, by=request.user)
            return _page(request, handed.operator, password=handed.password)
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/add.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
@password_confirmed
def operator(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Operator, pk=pk)
    if request.method != "POST":
        return _page(request, found)
    form = RoleForm(request.POST)
    if form.is_valid():
        values = {name: form.cleaned_data[name] for name in verbs.LIMITS}
        with rule_errors_in_form(form):
            seen = load_marks(form.cleaned_data["seen"])
            saved = verbs.change(found, values, by=request.user, now=timezone.now(), seen=seen)
            if saved:
                undo = reverse("surfaces:undo_operator", args=[pk])
                words = _("Saved. This applies from the next page %(name)s opens.")
                words %= {"name": found.name}
                toasts.show_toast(request, words, undo=undo, line=str(saved.event_id))
            else:
                toasts.show_toast(request, _("Nothing to save: no value was changed."))
            return redirect("surfaces:operator", pk)
    return _page(request, get_object_or_404(Operator, pk=pk), form=form, status=422)


@require_POST
@admin_required
@password_confirmed
def undo(request: OperatorRequest, pk: int) -> HttpResponse:
    event = posted_event(request, get_object_or_404(Operator, pk=pk))
    return _act(request, pk, partial(verbs.undo, event=event, now=timezone.now()), _("Undone."))


@require_POST
@admin_required
@password_confirmed
def deactivate(request: OperatorRequest, pk: int) -> HttpResponse:
    undo = reverse("surfaces:reactivate", args=[pk])
    words = _("%(name)s deactivated and signed out everywhere.")
    return _act(request, pk, verbs.deactivate, words, undo=undo)


@require_POST
@admin_required
@password_confirmed
def reactivate(request: OperatorRequest, pk: int) -> HttpResponse:
    return _act(request, pk, verbs.reactivate, _("%(name)s reactivated."))


@require_POST
@admin_required
@password_confirmed
def sign_out(request: OperatorRequest, pk: int) -> HttpResponse:
    return _act(request, pk, verbs.sign_out_everywhere, _("%(name)s signed out everywhere."))


@sensitive_variables("handed")
@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
@password_confirmed
def reset_password(request: OperatorRequest, pk: int) -> HttpResponse:
    """The password that is handed over stands on this answer only."""
    found = get_object_or_404(Operator, pk=pk)
    if request.method == "POST":
        with rule_errors_as_toasts(request):
            handed = verbs.reset_password(found, by=request.user)
            return _page(request, handed.operator, password=handed.password)
    return redirect("surfaces:operator", pk)


@require_POST
@admin_required
@password_confirmed
def two_factor_off(request: OperatorRequest, pk: int) -> HttpResponse:
    return _act(request, pk, verbs.switch_off_two_factor, _("Two-factor disabled for %(name)s."))


def _act(
    request: OperatorRequest, pk: int, act: Callable[..., object], words: str, *, undo: str = ""
) -> HttpResponse:
    found = get_object_or_404(Operator, pk=pk)
    with rule_errors_as_toasts(request):
        act(found, by=request.user)
        toasts.show_toast(request, words % {"name": found.name}, undo=undo)
    return redirect("surfaces:operator", pk)


def _page(
    request: OperatorRequest,
    found: Operator,
    *,
    form: RoleForm | None = None,
    password: str = "",
    status: int = 200,
) -> HttpResponse:
    values = values_of(found)
    seen = dump_marks(marks_of(values))
    last = events_of(found).last()
    shown: dict[str, Any] = {
        "one": found,
        "form": form or RoleForm(initial={**values, "seen": seen}),
        "seen": seen,
        "password": password,
        "is_me": found.pk == request.user.pk,
        "lines": AuditEvent.objects.about(found)[:LINES],
        "subject": name_of(found),
        "last": last if last and can_undo(found, last) else None,
    }
    return render(request, "surfaces/operators/operator.html", shown, status=status)
