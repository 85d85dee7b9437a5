"""The settings of one agent: look, change, take a change back."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dialogue import tuning
from dialogue.forms import LABELS, SettingsForm, Tuned
from dialogue.overview import changes, paging
from dialogue.tuning import ChangedMeanwhile
from dialogue.views.agents import agent_of, frame
from surfaces import toasts
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences

MOST_NAMED = 3  # values named in a toast


@require_http_methods(["GET", "HEAD", "POST"])
def agent_settings(request: OperatorRequest, slug: str) -> HttpResponse:
    return _change(request, slug) if request.method == "POST" else _page(request, slug)


@may_manage
def _change(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(slug)
    form = SettingsForm(tuning.values_of(found), request.POST)
    moved: tuple[str, ...] = ()
    if form.is_valid():
        try:
            return _changed(request, slug, form)
        except ChangedMeanwhile as error:
            moved = error.fields
            form = form.second_look(tuning.values_of(agent_of(slug)), moved)
        except RuleBroken as error:
            form.add_error(None, str(error))
    return _page(request, slug, form=form, moved=moved, status=409 if moved else 422)


def _changed(request: OperatorRequest, slug: str, form: Tuned) -> HttpResponse:
    """Change it, say what, and offer to take it back."""
    found = agent_of(slug)
    changed = tuning.change_agent(
        found,
        form.cleaned_data,
        by=request.user.actor,
        now=timezone.now(),
        why=" ".join(request.POST.get("why", "").replace("\0", "").split())[:400],
        seen=form.was_seen(),
    )
    line = AuditEvent.objects.about(found).called(tuning.CHANGED).order_by("-id").first()
    if changed and line:
        undo = reverse("dialogue:undo_change", args=[slug])
        toasts.say(request, f"Saved: {said_of(changed)}.", undo=undo, line=str(line.pk))
    else:
        toasts.say(request, "Nothing to save: every value is as it was.")
    return back(request, "dialogue:agent_settings", slug)


def said_of(changed: tuning.Changed) -> str:
    names = [LABELS[name].label.lower() for name in changed]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


@require_POST
@may_manage
def undo_change(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(slug)
    key = paging.number(request.POST.get("line", "")) or 0
    line = get_object_or_404(AuditEvent, pk=key, subject=name_of(found))
    with sentences(request):
        changed = tuning.undo(line, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"Set back: {said_of(changed)}.")
    return back(request, "dialogue:agent_settings", slug)


def _page(
    request: OperatorRequest,
    slug: str,
    *,
    form: SettingsForm | None = None,
    moved: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    shown = frame(request, slug, "settings")
    found = shown["agent"]
    form = form or SettingsForm(tuning.values_of(found))
    last = changes.last_of(found)
    shown |= {
        "form": form,
        "changed": changes.by_section(last),
        "last": last[0] if last else None,
        "moved": changes.moved_words(form, moved, last),
        "why": request.POST.get("why", "") if status != 200 else "",
    }
    return render(request, "dialogue/agent_settings.html", shown, status=status)
