"""The settings of one agent, of where it speaks, and the budget of all: look, change, undo."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dialogue import presences, tuning
from dialogue.forms import LABELS, HouseForm, PresenceForm, SettingsForm, Tuned
from dialogue.models import HouseBudget, Presence
from dialogue.overview import agents as overview
from dialogue.overview import changes
from dialogue.tuning.house import SUBJECT
from dialogue.views.agents import agent_of, frame
from surfaces import toasts
from surfaces.doors import may_manage
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.settings_forms import by_name
from surfaces.views.acting import back
from surfaces.views.settings import Saving, line_of, names_of, save, undoing, why_of
from surfaces.views.settings import shown as shown_settings


@require_http_methods(["GET", "HEAD", "POST"])
def agent_settings(request: OperatorRequest, slug: str) -> HttpResponse:
    return _change(request, slug) if request.method == "POST" else _page(request, slug)


@may_manage
def _change(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(request, slug)
    form = SettingsForm(tuning.values_of(found), request.POST)
    by, at, why = request.user.actor, timezone.now(), why_of(request)

    def verb(given: Tuned) -> tuning.Changed:
        values, seen = given.cleaned_data, given.was_seen()
        return tuning.change_agent(found, values, by=by, now=at, why=why, seen=seen)

    saving = save(request, form, verb, lambda: tuning.values_of(agent_of(request, slug)))
    if saving.change is None:
        return _page(request, slug, saving)
    line = AuditEvent.objects.about(found).called(tuning.CHANGED).order_by("-id").first()
    _say(request, saving.change, line, reverse("dialogue:undo_change", args=[slug]))
    return back(request, "dialogue:agent_settings", slug)


def _say(
    request: OperatorRequest, changed: Any, line: AuditEvent | None, undo: str, labels: Any = LABELS
) -> None:
    """Say what was saved, and offer to take it back."""
    if changed and line:
        words = _("Saved: %(names)s.") % {"names": names_of(changed, labels)}
        toasts.say(request, words, undo=undo, line=str(line.pk))
    else:
        toasts.say(request, _("Nothing to save: every value is as it was."))


def said_of(changed: tuning.Changed) -> str:
    return names_of(changed, LABELS)


@require_POST
@may_manage
def undo_change(request: OperatorRequest, slug: str) -> HttpResponse:
    line = line_of(request, name_of(agent_of(request, slug)))
    with undoing(request, LABELS) as done:
        done.append(tuning.undo(line, by=request.user.actor, now=timezone.now()))
    return back(request, "dialogue:agent_settings", slug)


def _page(request: OperatorRequest, slug: str, saving: Saving | None = None) -> HttpResponse:
    shown = frame(request, slug, "settings")
    values = tuning.values_of(shown["agent"])
    form = saving.form if saving else SettingsForm(values)
    history = changes.last_of(shown["agent"], values)
    shown |= shown_settings(form, history, saving) | {"why": _typed(request, saving)}
    shown["moved"] = changes.moved_words(form, saving.moved if saving else (), history)
    status = saving.status if saving else 200
    return render(request, "dialogue/agent_settings.html", shown, status=status)


def _typed(request: OperatorRequest, saving: Saving | None) -> str:
    return request.POST.get("why", "") if saving else ""


# ── where an agent speaks ─────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
def change_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _presence(request, pk)
    return _save_presence(request, found) if request.method == "POST" else _speaks(request, found)


@may_manage
def _save_presence(request: OperatorRequest, found: Presence) -> HttpResponse:
    form = PresenceForm(presences.values_of(found), request.POST)
    by = request.user.actor

    def verb(given: Tuned) -> Any:
        values, seen = PresenceForm.kept(given.cleaned_data), given.was_seen()
        return presences.tune(found, values, seen=seen, by=by)

    def again() -> dict[str, Any]:
        found.refresh_from_db()
        return presences.values_of(found)

    saving = save(request, form, verb, again)
    if saving.change is None:
        return _speaks(request, _presence(request, found.pk), saving)
    line = AuditEvent.objects.about(found.account).called(presences.CHANGED).order_by("-id").first()
    undo = reverse("dialogue:undo_presence", args=[found.pk])
    _say(request, saving.change, line, undo, by_name(PresenceForm.parts))
    return redirect("dialogue:change_presence", found.pk)


def _speaks(
    request: OperatorRequest, found: Presence, saving: Saving | None = None
) -> HttpResponse:
    form = saving.form if saving else PresenceForm(presences.values_of(found))
    shown = shown_settings(form, changes.of_presence(found), saving)
    shown |= {"presence": found, "agent": found.agent, "subject": name_of(found.account)}
    status = saving.status if saving else 200
    return render(request, "dialogue/presence_settings.html", shown, status=status)


@require_POST
@may_manage
def undo_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _presence(request, pk)
    line = line_of(request, name_of(found.account))
    with undoing(request, by_name(PresenceForm.parts)) as done:
        presences.undo(line, found, by=request.user.actor)
        done.append(line.facts["changed"])
    return back(request, "dialogue:change_presence", pk)


def _presence(request: OperatorRequest, pk: int) -> Presence:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    return get_object_or_404(request.user.reach.narrow(rows, agent="agent__slug"), pk=pk)


# ── the budget of all agents ──────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
def set_house_budget(request: OperatorRequest) -> HttpResponse:
    return _change_budget(request) if request.method == "POST" else _budget(request)


@may_manage
def _change_budget(request: OperatorRequest) -> HttpResponse:
    form = HouseForm(_budget_values(), request.POST)
    by, why = request.user.actor, why_of(request)

    def verb(given: Tuned) -> tuning.Changed:
        seen = given.was_seen()
        return tuning.set_house_budget(given.cleaned_data, by=by, seen=seen, why=why)

    saving = save(request, form, verb, _budget_values)
    if saving.change is None:
        return _budget(request, saving)
    line = AuditEvent.objects.on(SUBJECT).order_by("-id").first()
    undo = reverse("dialogue:undo_house_budget")
    _say(request, saving.change, line, undo, by_name(HouseForm.parts))
    return redirect("dialogue:set_house_budget")


def _budget(request: OperatorRequest, saving: Saving | None = None) -> HttpResponse:
    values = _budget_values()
    form = saving.form if saving else HouseForm(values)
    shown = shown_settings(form, changes.of_budget(values), saving)
    shown |= {"subject": SUBJECT, "why": _typed(request, saving)}
    status = saving.status if saving else 200
    return render(request, "dialogue/house_budget.html", shown, status=status)


@require_POST
@may_manage
def undo_house_budget(request: OperatorRequest) -> HttpResponse:
    line = line_of(request, SUBJECT)
    with undoing(request, by_name(HouseForm.parts)) as done:
        done.append(tuning.undo_house_budget(line, by=request.user.actor))
    return back(request, "dialogue:set_house_budget")


def _budget_values() -> dict[str, Any]:
    row: HouseBudget = overview.house_budget()
    return {knob.name: getattr(row, knob.name) for knob in HouseForm.knobs()}
