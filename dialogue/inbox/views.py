"""Page of one agent's inbox."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogue.dashboard.agents import frame
from dialogue.inbox import listing as inbox_listing
from surfaces.web.requests import OperatorRequest


@require_safe
def agent_inbox(request: OperatorRequest, slug: str) -> HttpResponse:
    shown = frame(request, slug, "inbox")
    tab = request.GET.get("show", "")
    tab = tab if tab in inbox_listing.TABS else ""
    reach, now = request.user.reach, timezone.now()
    shown |= {
        "page": inbox_listing.list_inbox(shown["agent"], tab, request.GET, now=now, reach=reach),
        "tab_shown": tab,
        "tabs": [(name, label, name == tab) for name, (label, _) in inbox_listing.TABS.items()],
    }
    return render(request, "dialogue/inbox/list.html", shown)
