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
from dialogue.forms import MODES, AgentForm
from dialogue.models import Agent, Presence
from dialogue.overview import agents as overview
from dialogue.overview import paging
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


def _list(
    request: OperatorRequest,
    *,
    new: AgentForm | None = None,
    status: int = 200,
) -> HttpResponse:
    shell, after = Shell(request), request.GET.get("after", "")[:64].replace("\0", "")
    reach = request.user.reach
    seen = presences.agents_within(reach).filter(slug__gt=after)
    page = overview.page(seen, shell.pauses, midnight=midnight(), now=timezone.now(), reach=reach)
    shown = {
        "shell": shell,
        "page": page,
        "is_first": not after,
        "new": new or AgentForm(),
    }
    return render(request, "dialogue/agents.html", shown, status=status)


# ── one of them ───────────────────────────────────────────────────────────


@require_safe
def agent(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "overview") | {"modes": MODES}
    return render(request, "dialogue/agent.html", shown)


@require_POST
@may_decide
def clear_back_off(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(request, slug)
    with sentences(request):
        tuning.clear_back_off(found, by=request.user.actor)
        toasts.say(request, f"{found} may be woken again at once.")
    return back(request, "dialogue:agent", slug)


def agent_of(request: OperatorRequest, slug: str) -> Agent:
    rows = presences.agents_within(request.user.reach).select_related("settings")
    return get_object_or_404(rows, slug=slug)


def frame(request: OperatorRequest, slug: str, tab: str) -> dict[str, Any]:
    """What every page of one agent shows around its own content."""
    shell, found = Shell(request), agent_of(request, slug)
    one = overview.One(
        found, shell.pauses, midnight=midnight(), now=timezone.now(), reach=request.user.reach
    )
    return {"shell": shell, "one": one, "agent": found, "tab": tab}


def midnight() -> datetime:
    """Of the person who looks."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


# ── where it speaks ───────────────────────────────────────────────────────


@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def add_presence(request: OperatorRequest, slug: str) -> HttpResponse:
    if request.method == "POST":
        found = agent_of(request, slug)
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
def end_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _presence(request, pk)
    with sentences(request):
        presences.leave(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{found.agent} does not speak as {found.account} any more.")
    return redirect(_panel(found))


def _presence(request: OperatorRequest, pk: int) -> Presence:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    return get_object_or_404(request.user.reach.narrow(rows, agent="agent__slug"), pk=pk)


def _panel(found: Presence) -> str:
    return reverse("dialogue:agent", args=[found.agent.slug]) + "#presences"


def _number(request: OperatorRequest, name: str) -> int:
    """A key that was posted; garbage is nobody's."""
    return paging.number(request.POST.get(name, "")) or 0
