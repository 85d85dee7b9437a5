"""The memory of an agent: read, search, delete."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from dialogue.dashboard.agents import agent_of, frame
from dialogue.dashboard.memory import list_memories, memories_within, size_of
from dialogue.memory import services
from surfaces.operators.permissions import admin_required, moderator_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts


@require_safe
def agent_memory(request: OperatorRequest, slug: str) -> HttpResponse:
    shown, asked = frame(request, slug, "memory"), request.GET.get("q", "")[:200]
    shown |= {
        "page": list_memories(shown["agent"], asked, request.GET, reach=request.user.reach),
        "size": size_of(shown["agent"]),
        "asked": asked,
    }
    return render(request, "dialogue/agents/memory.html", shown)


@require_POST
@moderator_required
def forget(request: OperatorRequest, pk: int) -> HttpResponse:
    rows = memories_within(request.user.reach).select_related("agent")
    memory = get_object_or_404(rows, pk=pk)
    with rule_errors_as_toasts(request):
        services.forget(memory, by=request.user.actor)
        toasts.show_toast(request, _("Note deleted."))
    return redirect_back(request, "dialogue:agent_memory", memory.agent.slug)


@require_POST
@admin_required
def forget_all(request: OperatorRequest, slug: str) -> HttpResponse:
    found = agent_of(request, slug)
    with rule_errors_as_toasts(request):
        count = services.forget_all(found, by=request.user.actor)
        words = ngettext("%(count)s note deleted.", "%(count)s notes deleted.", count)
        toasts.show_toast(request, words % {"count": count})
    return redirect_back(request, "dialogue:agent_memory", slug)
