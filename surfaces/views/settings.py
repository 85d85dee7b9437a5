"""Settings that hold for everybody, and those of a surface: look, change, take a change back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces import house, reaching, tending, toasts
from surfaces.changes import Change, ChangedMeanwhile
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken
from surfaces.history import History
from surfaces.models import AuditEvent, House, Surface
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.settings_forms import (
    HouseForm,
    by_name,
    house_history,
    moved_of,
    surface_form,
    surface_history,
    surface_parts,
)
from surfaces.tuned import DEFAULT, Tuned, filled_in
from surfaces.views.acting import back, sentences

MOST_NAMED = 3  # values named in a toast
LONGEST_WHY = 400


@dataclass
class Saving:
    """One try to save a form: what is shown again if it did not work."""

    form: Tuned
    moved: tuple[str, ...] = ()
    notice: str = ""
    change: Any = None

    @property
    def status(self) -> int:
        return 409 if self.moved else 200 if self.notice else 422


def save(
    request: HttpRequest, form: Tuned, verb: Callable[[Tuned], Any], again: Callable[[], Any]
) -> Saving:
    """Try `verb` with what was typed. `again` reads the values anew, for a second look."""
    asked = request.POST.get(DEFAULT, "")
    form = form.with_default(asked) if asked else form
    saving = Saving(form)
    if not form.is_valid():
        return saving
    if asked and form.also_turned(asked):
        saving.notice = filled_in(form, asked)
        return saving
    try:
        saving.change = verb(form)
    except ChangedMeanwhile as error:
        saving.moved = error.fields
        saving.form = form.second_look(again(), error.fields)
    except RuleBroken as error:
        form.add_error(None, str(error))
    return saving


def shown(form: Tuned, history: History, saving: Saving | None = None) -> dict[str, Any]:
    """What every page of settings shows."""
    form.history = history
    return {
        "form": form,
        "history": history,
        "changed": history.by_section(form.parts),
        "moved": moved_of(form, saving.moved) if saving else [],
        "notice": saving.notice if saving else "",
    }


def why_of(request: HttpRequest) -> str:
    return " ".join(request.POST.get("why", "").replace("\0", "").split())[:LONGEST_WHY]


def say_saved(request: HttpRequest, change: Change, labels: dict[str, Any], undo: str) -> None:
    """Say what was saved, and offer to take it back."""
    if change:
        words = _("Saved: %(names)s.") % {"names": names_of(change.turned, labels)}
        toasts.say(request, words, undo=undo, line=str(change.line))
    else:
        toasts.say(request, _("Nothing to save: every value is as it was."))


def names_of(turned: Any, labels: dict[str, Any]) -> str:
    known = [str(knob.label).lower() for name, knob in labels.items() if name in turned]
    names = known + [name for name in turned if name not in labels]
    more = len(names) - MOST_NAMED
    said = ", ".join(names[:MOST_NAMED])
    return _("%(names)s and %(more)d more") % {"names": said, "more": more} if more > 0 else said


@contextmanager
def undoing(request: HttpRequest, labels: dict[str, Any]) -> Iterator[list[Any]]:
    """Take a change back, say what, or why not. The change goes into the list."""
    done: list[Any] = []
    with sentences(request):
        yield done
        for change in done:
            names = names_of(getattr(change, "turned", change), labels)
            toasts.say(request, _("Set back: %(names)s.") % {"names": names})


def line_of(request: HttpRequest, subject: str) -> AuditEvent:
    """The line somebody wants to take back; of another subject it is not here."""
    given = request.POST.get("line", "")
    pk = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
    return get_object_or_404(AuditEvent, pk=pk, subject=subject)


# ── all of them, and the house ────────────────────────────────────────────


@require_safe
def settings(request: OperatorRequest) -> HttpResponse:
    return render(request, "surfaces/settings.html", {"house": house.current()})


@require_http_methods(["GET", "HEAD", "POST"])
def house_settings(request: OperatorRequest) -> HttpResponse:
    return _change_house(request) if request.method == "POST" else _house_page(request)


@may_manage
def _change_house(request: OperatorRequest) -> HttpResponse:
    form = HouseForm(house.values_of(house.current()), request.POST)
    by, at, why = request.user.actor, timezone.now(), why_of(request)

    def verb(given: Tuned) -> Change:
        seen = given.was_seen()
        return house.change(given.cleaned_data, by=by, now=at, why=why, seen=seen)

    saving = save(request, form, verb, lambda: house.values_of(house.current()))
    if saving.change is None:
        return _house_page(request, saving)
    say_saved(request, saving.change, by_name(HouseForm.parts), "/settings/house/undo")
    return redirect("surfaces:house_settings")


def _house_page(request: OperatorRequest, saving: Saving | None = None) -> HttpResponse:
    row = house.current()
    form = saving.form if saving else HouseForm(house.values_of(row))
    page = shown(form, house_history(row), saving) | {"house": row, "why": why_of(request)}
    return render(request, "surfaces/house.html", page, status=saving.status if saving else 200)


@require_POST
@may_manage
def undo_house(request: OperatorRequest) -> HttpResponse:
    line = line_of(request, House.ledger_name)
    with undoing(request, by_name(HouseForm.parts)) as done:
        done.append(house.undo(line.pk, by=request.user.actor, now=timezone.now()))
    return back(request, "surfaces:house_settings")


# ── a surface ─────────────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
def surface_settings(request: OperatorRequest, slug: str) -> HttpResponse:
    found = _surface(request, slug)
    return _change_surface(request, found) if request.method == "POST" else _page(request, found)


@may_manage
def _change_surface(request: OperatorRequest, found: Surface) -> HttpResponse:
    form = surface_form(found)(tending.surface_values(found), request.POST)
    by, why = request.user.actor, why_of(request)

    def verb(given: Tuned) -> Change:
        seen = given.was_seen()
        return tending.change_surface(found, given.cleaned_data, by=by, why=why, seen=seen)

    def again() -> dict[str, Any]:
        found.refresh_from_db()
        return tending.surface_values(found)

    saving = save(request, form, verb, again)
    if saving.change is None:
        found.refresh_from_db()
        return _page(request, found, saving)
    labels = by_name(surface_parts(found))
    say_saved(request, saving.change, labels, f"/surfaces/{found.slug}/settings/undo")
    return redirect("surfaces:surface_settings", found.slug)


def _page(request: OperatorRequest, found: Surface, saving: Saving | None = None) -> HttpResponse:
    form = saving.form if saving else surface_form(found)(tending.surface_values(found))
    page = shown(form, surface_history(found), saving)
    page |= {"surface": found, "ledger_name": name_of(found), "why": why_of(request)}
    status = saving.status if saving else 200
    return render(request, "surfaces/surface_settings.html", page, status=status)


@require_POST
@may_manage
def undo_surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = _surface(request, slug)
    line = line_of(request, name_of(found))
    with undoing(request, by_name(surface_parts(found))) as done:
        done.append(tending.undo_surface(found, line, by=request.user.actor))
    return back(request, "surfaces:surface_settings", slug)


def _surface(request: OperatorRequest, slug: str) -> Surface:
    places = reaching.surfaces_within(request.user.reach)
    rows = Surface.objects.all() if places is None else Surface.objects.filter(pk__in=places)
    return get_object_or_404(rows, slug=slug)
