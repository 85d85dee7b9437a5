"""Who writes an agent's words: the voice, its models, their keys."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from dialogue import sampling, tuning
from dialogue.forms import BrainForm, VoiceForm
from dialogue.models import Agent, Brain
from dialogue.overview import changes
from dialogue.sampling import Sample
from dialogue.tuning import ChangedMeanwhile
from dialogue.views.agents import agent_of, frame
from dialogue.views.settings import said_of
from surfaces import toasts
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken
from surfaces.history import Change, History
from surfaces.requests import OperatorRequest
from surfaces.views.acting import sentences


@require_http_methods(["GET", "HEAD", "POST"])
def agent_voice(request: OperatorRequest, slug: str) -> HttpResponse:
    return _change(request, slug) if request.method == "POST" else _page(request, slug)


@may_manage
def _change(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(request, slug)
    form = VoiceForm(tuning.values_of(found), request.POST)
    moved: tuple[str, ...] = ()
    if form.is_valid():
        try:
            changed = tuning.change_agent(
                found, form.cleaned_data, by=request.user.actor, now=timezone.now(),
                seen=form.was_seen(),
            )  # fmt: skip
        except ChangedMeanwhile as error:
            moved = error.fields
            form = form.second_look(tuning.values_of(agent_of(request, slug)), moved)
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            words = f"Saved: {said_of(changed)}." if changed else "Nothing to save."
            toasts.say(request, words)
            return redirect("dialogue:agent_voice", slug)
    return _page(request, slug, form=form, moved=moved, status=409 if moved else 422)


# ── the models ────────────────────────────────────────────────────────────


@sensitive_post_parameters("key")
@require_POST
@may_manage
def add_brain(request: OperatorRequest, slug: str) -> HttpResponse:
    found, form = agent_of(request, slug), BrainForm(request.POST, prefix="new")

    def add() -> str:
        made = tuning.add_brain(found, **form.new(), by=request.user.actor)
        return f"{made} is added, to be asked last."

    return _of_brain(request, found, form, add)


@sensitive_post_parameters("key")
@require_POST
@may_manage
def change_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    form = BrainForm(request.POST, prefix=f"b{pk}")

    def change() -> str:
        tuning.change_brain(brain, form.facts(), by=request.user.actor)
        return f"Saved {brain}."

    return _of_brain(request, brain.agent, form, change)


def _of_brain(
    request: OperatorRequest, agent: Agent, form: BrainForm, act: Callable[[], str]
) -> HttpResponse:
    """Act, or show the form again with why not."""
    if form.is_valid():
        try:
            toasts.say(request, act())
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            return redirect("dialogue:agent_voice", agent.slug)
    return _page(request, agent.slug, refused=form, status=422)


@require_POST
@may_manage
def move_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    with sentences(request):
        tuning.move_brain(brain, up=request.POST.get("up") == "on", by=request.user.actor)
    return redirect("dialogue:agent_voice", brain.agent.slug)


@require_POST
@may_manage
def remove_brain(request: OperatorRequest, pk: int) -> HttpResponse:
    brain = _brain(pk)
    with sentences(request):
        name = str(brain)
        tuning.remove_brain(brain, by=request.user.actor)
        toasts.say(request, f"{name} is removed, and its key with it.")
    return redirect("dialogue:agent_voice", brain.agent.slug)


def _brain(pk: int) -> Brain:
    return get_object_or_404(Brain.objects.select_related("agent__settings"), pk=pk)


@require_POST
@may_manage
def try_voice(request: OperatorRequest, slug: str) -> HttpResponse:
    """Write a sample and show it. It may take as long as the voice does."""
    made = sampling.sample(agent_of(request, slug), by=request.user.actor, clock=timezone.now)
    return _page(request, slug, sample=made)


# ── the page ──────────────────────────────────────────────────────────────


def _page(
    request: OperatorRequest,
    slug: str,
    *,
    form: VoiceForm | None = None,
    refused: BrainForm | None = None,
    moved: tuple[str, ...] = (),
    sample: Sample | None = None,
    status: int = 200,
) -> HttpResponse:
    shown = frame(request, slug, "voice")
    found = shown["agent"]
    last = changes.last_of(found)
    form = form or VoiceForm(tuning.values_of(found))
    form.history = last
    shown |= {
        "form": form,
        "sample": sample,
        "changed": changes.by_section(last),
        "moved": changes.moved_words(form, moved, last),
        "brains": _brains(found, last, refused),
        "new": refused if refused and refused.prefix == "new" else BrainForm(prefix="new"),
    }
    return render(request, "dialogue/agent_voice.html", shown, status=status)


def _brains(
    agent: Agent, last: History, refused: BrainForm | None
) -> list[tuple[Brain, BrainForm, Change | None]]:
    """Each model with its form and the change that last touched its key."""
    found = []
    for brain in agent.brains.all():
        prefix = f"b{brain.pk}"
        given = {name: getattr(brain, name) for name in tuning.OPEN}
        form = BrainForm(prefix=prefix, initial=given)
        if refused and refused.prefix == prefix:
            form = refused
        found.append((brain, form, changes.last_that(last, f"key of {brain}")))
    return found
