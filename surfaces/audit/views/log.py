"""Page of the audit log, newest first."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces.audit.models import AuditEvent
from surfaces.operators.scope_queries import hide_private_facts, visible_events
from surfaces.text.reasons import SENTENCES, label
from surfaces.web.pagination import paginate
from surfaces.web.requests import OperatorRequest

ACTION = "action."


@require_safe
def audit_log(request: OperatorRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "").strip() for name in ("actor", "action", "subject")}
    events = AuditEvent.objects.all()
    if asked["actor"]:
        events = events.by(asked["actor"])
    if asked["action"]:
        events = events.called(asked["action"])
    if asked["subject"]:
        events = events.filter(subject=asked["subject"])
    page = paginate(visible_events(events, request.user), request.GET, keep=asked)
    hide_private_facts(page.rows, request.user)
    shown = {
        "page": page,
        "asked": asked,
        "is_filtered": any(asked.values()),
        "actions": _actions(asked["action"]),
    }
    return render(request, "surfaces/audit/log.html", shown)


def _actions(chosen: str) -> list[tuple[str, str]]:
    """Every action with its words, and the chosen one, in the order of the words."""
    known = {code.removeprefix(ACTION) for code in SENTENCES if code.startswith(ACTION)}
    named = [(name, label("action", name)) for name in {*known, *([chosen] if chosen else [])}]
    return sorted(named, key=lambda each: each[1].lower())
