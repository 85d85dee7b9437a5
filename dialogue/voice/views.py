"""Page of an agent's voice: settings, models and API keys."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dialogue.agents.forms.settings import VoiceForm
from dialogue.dashboard.agents import agent_of, frame
from dialogue.models import Agent, ModelEndpoint
from dialogue.voice import endpoints, samples
from dialogue.voice.forms import BrainForm
from surfaces.errors import RuleBroken
from surfaces.operators.permissions import admin_required
from surfaces.settings.form_views import SettingsPage
from surfaces.settings.history import HistoryEntry
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import rule_errors_as_toasts

PAGE = SettingsPage(
    form=VoiceForm,
    template="dialogue/voice/voice.html",
    name="dialogue:agent_voice",
    undo_name="dialogue:undo_change",
    key="slug",
    context=lambda request, form: frame(request, form.row.slug, "voice", form.row) | _models(form),
)
agent_voice, _undo = PAGE.views(agent_of)


@sensitive_post_parameters("key")
@require_POST
@admin_required
def add_brain(request: OperatorRequest, slug: str) -> HttpResponse:
    found, form = agent_of(request, slug), BrainForm(request.POST, prefix="new")

    def add() -> str:
        made = endpoints.add_brain(found, **form.new(), by=request.user.actor)
        return _("Added %(name)s as the last model.") % {"name": made}

    return _of_brain(request, found, form, add)


@sensitive_post_parameters("key")
@require_POST
@admin_required
def change_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    form = BrainForm(request.POST, prefix=f"b{pk}")

    def change() -> str:
        endpoints.change_brain(brain, form.facts(), by=request.user.actor)
        return _("Saved %(name)s.") % {"name": brain}

    return _of_brain(request, brain.agent, form, change)


def _of_brain(
    request: OperatorRequest, agent: Agent, form: BrainForm, act: Callable[[], str]
) -> HttpResponse:
    """Run the action, or show the form again with the error."""
    if form.is_valid():
        try:
            toasts.show_toast(request, act())
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            return redirect("dialogue:agent_voice", agent.slug)
    shown = VoiceForm(agent)
    models = _models(shown, refused=form)
    return PAGE.render(request, shown, status=422, **models)


@require_POST
@admin_required
def move_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    with rule_errors_as_toasts(request):
        endpoints.move_brain(brain, up=request.POST.get("up") == "on", by=request.user.actor)
    return redirect("dialogue:agent_voice", brain.agent.slug)


@require_POST
@admin_required
def remove_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    with rule_errors_as_toasts(request):
        name = str(brain)
        endpoints.remove_brain(brain, by=request.user.actor)
        toasts.show_toast(request, _("Removed %(name)s and its API key.") % {"name": name})
    return redirect("dialogue:agent_voice", brain.agent.slug)


def _brain(pk: int) -> ModelEndpoint:
    return get_object_or_404(ModelEndpoint.objects.select_related("agent__settings"), pk=pk)


@require_POST
@admin_required
def try_voice(request: OperatorRequest, slug: str) -> HttpResponse:
    """Write a sample and show it. It may take as long as the voice does."""
    agent = agent_of(request, slug)
    made = samples.sample(agent, by=request.user.actor, clock=timezone.now)
    return PAGE.render(request, VoiceForm(agent), sample=made)


def _models(form: VoiceForm, *, refused: BrainForm | None = None) -> dict[str, Any]:
    """Each model with its form and the last change of its key, and the form for a new one."""
    brains: list[tuple[ModelEndpoint, BrainForm, HistoryEntry | None]] = []
    for brain in form.row.brains.all():
        initial = {name: getattr(brain, name) for name in endpoints.OPEN}
        edit = BrainForm(prefix=f"b{brain.pk}", initial=initial)
        if refused and refused.prefix == edit.prefix:
            edit = refused
        brains.append((brain, edit, form.history.last(f"key of {brain}")))
    is_new = refused is not None and refused.prefix == "new"
    return {"brains": brains, "new": refused if is_new else BrainForm(prefix="new")}
