"""Page of an external agent's webhook: URL, test, and delivery log."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Prefetch, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dialogue.agents.models.agent import Agent
from dialogue.dashboard.agents import agent_of, frame
from dialogue.wake_hooks import delivery as wake_hook_delivery
from dialogue.wake_hooks.forms import HookForm
from dialogue.wake_hooks.models import WakeAttempt, WakeEvent, WakeEventState, WakeHook
from surfaces.audit.models import name_of
from surfaces.errors import RuleBroken
from surfaces.models import AuditEvent
from surfaces.net import safe_urls
from surfaces.operators.permissions import admin_required, moderator_required
from surfaces.operators.scope import Scope
from surfaces.web import toasts
from surfaces.web.pagination import paginate
from surfaces.web.requests import OperatorRequest, int_param
from surfaces.web.responses import rule_errors_as_toasts

SIZE = 25  # events on a page
TRIES = 10  # latest attempts shown per event
LINES = 6  # audit entries shown
# An open page polls while an event is about to be sent, but not forever.
WATCHED = timedelta(minutes=2)
SOON = timedelta(seconds=15)


@require_safe
def wake(request: OperatorRequest, slug: str) -> HttpResponse:
    pk = int_param(request.GET, "event")
    return _page(request, slug) if pk is None or not request.htmx else _row(request, slug, pk)


@sensitive_post_parameters("secret")
@sensitive_variables("form", "hooked")
@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def set_hook(request: OperatorRequest, slug: str) -> HttpResponse:
    """Render instead of redirecting: a generated secret is only in this response."""
    if request.method != "POST":  # a link of that response was followed
        return redirect(f"{reverse('dialogue:wake', args=[slug])}?{request.GET.urlencode()}")
    agent, form = agent_of(request, slug), HookForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, form=form, status=422)
    given, by = form.cleaned_data, request.user.actor
    try:
        hooked = wake_hook_delivery.set_hook(agent, **given, by=by, now=timezone.now())
    except RuleBroken as error:
        form.add_error(None, str(error))
        return _page(request, slug, form=form, status=422)
    if not hooked.new_secret:
        words = _("Saved. Events for %(agent)s are sent to %(origin_of)s.")
        origin = safe_urls.origin_of(hooked.hook.url)
        toasts.show_toast(request, words % {"agent": agent, "origin_of": origin})
        return redirect("dialogue:wake", slug)
    return _page(request, slug, new_secret=hooked.new_secret)


@require_POST
@moderator_required
def send_test(request: OperatorRequest, slug: str) -> HttpResponse:
    agent = agent_of(request, slug)
    hook = get_object_or_404(WakeHook.objects.select_related("agent"), agent=agent)
    with rule_errors_as_toasts(request):
        wake_hook_delivery.send_test(hook, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Test event queued. The result appears under Deliveries."))
    return redirect("dialogue:wake", slug)


@require_POST
@moderator_required
def resend(request: OperatorRequest, slug: str, pk: int) -> HttpResponse:
    rows = _within(WakeEvent.objects.select_related("hook__agent"), request.user.reach)
    event = get_object_or_404(rows, pk=pk, hook__agent=agent_of(request, slug))
    with rule_errors_as_toasts(request):
        wake_hook_delivery.resend(event, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Event queued again, with the same id."))
    return _row(request, slug, pk, oob=True) if request.htmx else redirect("dialogue:wake", slug)


def _page(request: OperatorRequest, slug: str, status: int = 200, **more: Any) -> HttpResponse:
    shown = frame(request, slug, "webhook")
    agent = shown["agent"]
    hook = WakeHook.objects.filter(agent=agent).first()
    kept = {"kind": hook.kind, "url": hook.url, "is_on": hook.is_on} if hook else None
    shown |= {
        "hook": hook,
        "origin": safe_urls.origin_of(hook.url) if hook else "",
        "form": HookForm(initial=kept),
        "page": paginate(_shown(agent, request.user.reach), request.GET, size=SIZE),
        "allows_private": settings.WAKE_PRIVATE_ADDRESSES,
        "tries": len(wake_hook_delivery.WAITS) + 1,
        "lines": AuditEvent.objects.about(agent).filter(action__startswith="wake.")[:LINES],
        "ledger_name": name_of(agent),
        **more,
    }
    return render(request, "dialogue/wake_hooks/wake_hook.html", shown, status=status)


def _row(request: OperatorRequest, slug: str, pk: int, *, oob: bool = False) -> HttpResponse:
    agent = agent_of(request, slug)
    event = get_object_or_404(_shown(agent, request.user.reach), pk=pk)
    shown = {"agent": agent, "event": event, "oob": oob}
    return render(request, "dialogue/wake_hooks/_event.html", shown)


def _within(events: QuerySet[WakeEvent], reach: Scope) -> QuerySet[WakeEvent]:
    """Limit events to visible accounts; tests have none."""
    if reach.accounts is None:
        return events
    return events.filter(Q(account=None) | Q(account__in=sorted(reach.accounts)))


def _shown(agent: Agent, reach: Scope) -> QuerySet[WakeEvent]:
    """Load what a row shows: account, latest attempts, and whether it is about to be sent."""
    now = timezone.now()
    moves = Q(state=WakeEventState.WAITING, hook__is_on=True)
    moves &= Q(not_before__gt=now - WATCHED, not_before__lt=now + SOON)
    latest = WakeAttempt.objects.order_by("-id")[:TRIES]
    tries = Prefetch("log", queryset=latest, to_attr="last_tries")
    events = _within(WakeEvent.objects.filter(hook__agent=agent), reach)
    heavy = ["account__sealed_credential", "account__cursor", "hook__sealed_secret"]
    fresh = ExpressionWrapper(moves, output_field=BooleanField())
    rows = events.select_related("account", "hook").annotate(moves=fresh)
    return rows.defer(*heavy).prefetch_related(tries)
