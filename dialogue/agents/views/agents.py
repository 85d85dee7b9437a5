"""Pages of agents: the list, the overview, and the assignment of accounts."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dialogue.agents import presences
from dialogue.agents import services as agent_services
from dialogue.agents.forms.agent import AgentForm
from dialogue.agents.forms.settings import MODES
from dialogue.agents.models.presence import Presence
from dialogue.agents.settings import services
from dialogue.dashboard import agents as overview
from dialogue.dashboard.agents import agent_of, frame
from surfaces.errors import BadInput, RuleBroken
from surfaces.home.frame import PageFrame
from surfaces.models import Account
from surfaces.operators.permissions import admin_required, moderator_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import redirect_back, rule_errors_as_toasts


@require_safe
def agents(request: OperatorRequest) -> HttpResponse:
    return _list(request)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def new_agent(request: OperatorRequest) -> HttpResponse:
    if request.method != "POST":
        return _list(request)
    form = AgentForm(request.POST)
    if form.is_valid():
        try:
            made = agent_services.make_agent(**form.cleaned_data, by=request.user.actor)
        except RuleBroken as error:
            form.add_error("slug", str(error))
        else:
            words = _("Agent %(made)s created. Assign an account so that it can read and reply.")
            toasts.show_toast(request, words % {"made": made})
            return redirect("dialogue:agent", made.slug)
    return _list(request, new=form, status=422)


def _list(
    request: OperatorRequest, *, new: AgentForm | None = None, status: int = 200
) -> HttpResponse:
    shell, reach = PageFrame(request), request.user.reach
    page = overview.list_agents(request.GET, shell.pauses, now=timezone.now(), reach=reach)
    is_first = "after" not in request.GET
    shown = {"shell": shell, "page": page, "is_first": is_first, "new": new or AgentForm()}
    return render(request, "dialogue/agents/list.html", shown, status=status)


@require_safe
def agent(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "overview") | {"modes": MODES}
    return render(request, "dialogue/agents/overview.html", shown)


@require_POST
@moderator_required
def clear_back_off(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(request, slug)
    with rule_errors_as_toasts(request):
        services.clear_back_off(found, by=request.user.actor)
        words = _("Back-off cleared. Activations of %(found)s can start again now.")
        toasts.show_toast(request, words % {"found": found})
    return redirect_back(request, "dialogue:agent", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def add_presence(request: OperatorRequest, slug: str) -> HttpResponse:
    if request.method == "POST":
        found = agent_of(request, slug)
        with rule_errors_as_toasts(request):
            account = Account.objects.filter(pk=int_param(request.POST, "account") or 0).first()
            if account is None:
                raise BadInput(_lazy("Choose an account to speak through."))
            mode, by = request.POST.get("mode", ""), request.user.actor
            presences.join(found, account, mode=mode, by=by, now=timezone.now())
            words = _("Account %(account)s assigned to %(found)s.")
            toasts.show_toast(request, words % {"account": account, "found": found})
            return redirect("dialogue:agent", slug)
    shown = frame(request, slug, "overview")
    shown |= {"free": overview.free_accounts(), "modes": MODES}
    return render(request, "dialogue/agents/presence_add.html", shown)


@require_POST
@admin_required
def end_presence(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = Presence.objects.select_related("agent__settings", "account__surface")
    found = get_object_or_404(request.user.reach.narrow(rows, agent="agent__slug"), pk=pk)
    with rule_errors_as_toasts(request):
        presences.leave(found, by=request.user.actor, now=timezone.now())
        words = _("Account %(account)s unassigned from %(agent)s.")
        toasts.show_toast(request, words % {"account": found.account, "agent": found.agent})
    return redirect(reverse("dialogue:agent", args=[found.agent.slug]) + "#presences")
