"""The agents: all of them, one of them, and where it speaks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dialogue import presences, tuning
from dialogue.forms import MODES, AgentForm, HouseForm, PresenceForm
from dialogue.models import Agent, HouseBudget, Presence
from dialogue.overview import agents as overview
from dialogue.overview import changes, paging
from dialogue.tuning import ChangedMeanwhile
from surfaces import toasts
from surfaces.doors import may_decide, may_manage
from surfaces.errors import BadInput, RuleBroken
from surfaces.models import Account
from surfaces.pages import Shell
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences


@require_safe
def agents(request: OperatorRequest) -> HttpResponse:
    return _list(request)


@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def new_agent(request: OperatorRequest) -> HttpResponse:
    if request.method != "POST":
        return _list(request)
    form = AgentForm(request.POST)
    if form.is_valid():
        try:
            made = presences.make_agent(**form.cleaned_data, by=request.user.actor)
        except RuleBroken as error:
            form.add_error("slug", str(error))
        else:
            toasts.say(request, f"{made} is made. It speaks nowhere yet and writes nothing.")
            return redirect("dialogue:agent", made.slug)
    return _list(request, new=form, status=422)


@require_POST
@may_manage
def set_house_budget(request: OperatorRequest) -> HttpResponse:
    form = HouseForm(_house_values(overview.house_budget()), request.POST)
    moved: tuple[str, ...] = ()
    if form.is_valid():
        try:
            tuning.set_house_budget(form.cleaned_data, by=request.user.actor, seen=form.was_seen())
        except ChangedMeanwhile as error:
            moved = error.fields
            form = form.second_look(_house_values(overview.house_budget()), moved)
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            toasts.say(request, "Saved. It holds for the next call of any model.")
            return redirect("dialogue:agents")
    return _list(request, house=form, moved=moved, status=409 if moved else 422)


def _list(
    request: OperatorRequest,
    *,
    new: AgentForm | None = None,
    house: HouseForm | None = None,
    moved: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    shell, after = Shell(request), request.GET.get("after", "")[:64].replace("\0", "")
    page = overview.page(after, shell.pauses, midnight=midnight(), now=timezone.now())
    house = house or HouseForm(_house_values(page.budget))
    shown = {
        "shell": shell,
        "page": page,
        "is_first": not after,
        "new": new or AgentForm(),
        "house": house,
        "moved": changes.moved_words(house, moved, []),
    }
    return render(request, "dialogue/agents.html", shown, status=status)


def _house_values(row: HouseBudget) -> dict[str, Any]:
    return {knob.name: getattr(row, knob.name) for knob in HouseForm.knobs()}


# ── one of them ───────────────────────────────────────────────────────────


@require_safe
def agent(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "overview") | {"modes": MODES}
    return render(request, "dialogue/agent.html", shown)


@require_POST
@may_decide
def clear_back_off(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Agent, slug=slug)
    with sentences(request):
        tuning.clear_back_off(found, by=request.user.actor)
        toasts.say(request, f"{found} may be woken again at once.")
    return back(request, "dialogue:agent", slug)


def agent_of(slug: str) -> Agent:
    return get_object_or_404(Agent.objects.select_related("settings"), slug=slug)


def frame(request: OperatorRequest, slug: str, tab: str) -> dict[str, Any]:
    """What every page of one agent shows around its own content."""
    shell, found = Shell(request), agent_of(slug)
    one = overview.One(found, shell.pauses, midnight=midnight(), now=timezone.now())
    return {"shell": shell, "one": one, "agent": found, "tab": tab}


def midnight() -> datetime:
    """Of the person who looks."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


# ── where it speaks ───────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def add_presence(request: OperatorRequest, slug: str) -> HttpResponse:
    if request.method == "POST":
        found = agent_of(slug)
        with sentences(request):
            account = Account.objects.filter(pk=_number(request, "account")).first()
            if account is None:
                raise BadInput("Choose an account to speak through.")
            presences.join(
                found,
                account,
                mode=request.POST.get("mode", ""),
                by=request.user.actor,
                now=timezone.now(),
            )
            toasts.say(request, f"{found} speaks as {account} now.")
            return redirect("dialogue:agent", slug)
    shown = frame(request, slug, "overview")
    shown |= {"free": overview.free_accounts(), "modes": MODES}
    return render(request, "dialogue/add_presence.html", shown)


@require_POST
@may_manage
def change_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    found, form = _presence(pk), PresenceForm(request.POST)
    with sentences(request):
        if not form.is_valid():
            raise BadInput(form.said())
        presences.change(found, by=request.user.actor, **form.facts())
        toasts.say(request, f"Saved for {found.account}: it is in {found.effective_mode} now.")
    return redirect(_panel(found))


@require_POST
@may_manage
def end_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _presence(pk)
    with sentences(request):
        presences.leave(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{found.agent} does not speak as {found.account} any more.")
    return redirect(_panel(found))


def _presence(pk: int) -> Presence:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    return get_object_or_404(rows, pk=pk)


def _panel(found: Presence) -> str:
    return reverse("dialogue:agent", args=[found.agent.slug]) + "#presences"


def _number(request: OperatorRequest, name: str) -> int:
    """A key that was posted; garbage is nobody's."""
    return paging.number(request.POST.get(name, "")) or 0
