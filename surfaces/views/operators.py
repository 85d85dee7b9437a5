"""Operators, for administrators: who may come in, what they may, and every act on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces import changes, toasts
from surfaces import operators as verbs
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken
from surfaces.forms import OperatorForm, RoleForm
from surfaces.models import AuditEvent, Operator
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.views.acting import sentences

LINES = 8


@require_safe
@may_manage
def operators(request: OperatorRequest) -> HttpResponse:
    found = Operator.objects.prefetch_related("surfaces").order_by("-is_active", "username")
    return render(request, "surfaces/operators.html", {"found": found})


@sensitive_variables("handed")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def new_operator(request: OperatorRequest) -> HttpResponse:
    """The password that is handed over stands on this answer only."""
    form = OperatorForm(request.POST or None, initial={"role": "viewer"})
    if form.is_bound and form.is_valid():
        given = {name: value for name, value in form.cleaned_data.items() if name != "seen"}
        try:
            handed = verbs.add(**given, by=request.user)
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            return _page(request, handed.operator, password=handed.password)
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators_new.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def operator(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _get(pk)
    if request.method != "POST":
        return _page(request, found)
    form = RoleForm(request.POST)
    if form.is_valid():
        values = {name: form.cleaned_data[name] for name in verbs.LABELS}
        try:
            seen = changes.heard(form.cleaned_data["seen"])
            change = verbs.change(found, values, by=request.user, seen=seen)
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            _say(request, found, change)
            return redirect("surfaces:operator", pk)
    return _page(request, _get(pk), form=form, status=422)


def _say(request: OperatorRequest, found: Operator, change: changes.Change) -> None:
    if change:
        undo = reverse("surfaces:undo_operator", args=[found.pk])
        words = _("Saved. It holds from %(name)s’s next page on.") % {"name": found.name}
        toasts.say(request, words, undo=undo, line=str(change.line))
    else:
        toasts.say(request, _("Nothing to save: every value is as it was."))


@require_POST
@may_manage
def undo(request: OperatorRequest, pk: int) -> HttpResponse:
    line = request.POST.get("line", "")
    number = int(line) if line.isascii() and line.isdigit() and len(line) < 19 else 0

    def set_back(found: Operator) -> str:
        verbs.undo(found, number, by=request.user)
        return _("Set back.")

    return _act(request, pk, set_back)


@require_POST
@may_manage
def deactivate(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _get(pk)
    with sentences(request):
        verbs.deactivate(found, by=request.user)
        undo = reverse("surfaces:reactivate", args=[pk])
        words = _("%(name)s is locked out, in every browser.") % {"name": found.name}
        toasts.say(request, words, undo=undo)
    return redirect("surfaces:operator", pk)


@require_POST
@may_manage
def reactivate(request: OperatorRequest, pk: int) -> HttpResponse:
    def let_in(found: Operator) -> str:
        verbs.reactivate(found, by=request.user)
        return _("%(name)s may sign in again.") % {"name": found.name}

    return _act(request, pk, let_in)


@require_POST
@may_manage
def sign_out(request: OperatorRequest, pk: int) -> HttpResponse:
    def end(found: Operator) -> str:
        verbs.sign_out_everywhere(found, by=request.user)
        return _("%(name)s is signed out everywhere.") % {"name": found.name}

    return _act(request, pk, end)


@sensitive_variables("handed")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def reset_password(request: OperatorRequest, pk: int) -> HttpResponse:
    """The password that is handed over stands on this answer only."""
    found = _get(pk)
    if request.method == "POST":
        with sentences(request):
            handed = verbs.reset_password(found, by=request.user)
            return _page(request, handed.operator, password=handed.password)
    return redirect("surfaces:operator", pk)


@require_POST
@may_manage
def two_factor_off(request: OperatorRequest, pk: int) -> HttpResponse:
    def end(found: Operator) -> str:
        verbs.switch_off_two_factor(found, by=request.user)
        return _("%(name)s signs in with the password alone now.") % {"name": found.name}

    return _act(request, pk, end)


# ── shared ────────────────────────────────────────────────────────────────


def _get(pk: int) -> Operator:
    return get_object_or_404(Operator, pk=pk)


def _act(request: OperatorRequest, pk: int, act: Callable[[Operator], str]) -> HttpResponse:
    found = _get(pk)
    with sentences(request):
        toasts.say(request, act(found))
    return redirect("surfaces:operator", pk)


def _page(
    request: OperatorRequest,
    found: Operator,
    *,
    form: RoleForm | None = None,
    password: str = "",
    status: int = 200,
) -> HttpResponse:
    values = verbs.values_of(found)
    seen = changes.told(changes.marks_of(values))
    lines = list(AuditEvent.objects.about(found)[:LINES])
    last = next((line for line in lines if line.action == verbs.CHANGED), None)
    shown: dict[str, Any] = {
        "one": found,
        "form": form or RoleForm(initial={**values, "seen": seen}),
        "seen": seen,
        "password": password,
        "is_me": found.pk == request.user.pk,
        "lines": lines,
        "subject": name_of(found),
        "last": last if last and verbs.can_undo(last) else None,
    }
    return render(request, "surfaces/operators_one.html", shown, status=status)
