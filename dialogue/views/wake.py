"""How one agent elsewhere is woken: its address, a test, and the log of what was delivered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django import forms
from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Prefetch, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dialogue import waking
from dialogue.models import Agent, WakeEvent, WakeHook, WakeTry
from dialogue.models.wake import EventState, HookKind, WakeEventQuerySet
from dialogue.overview.paging import Sheet, number, sheet
from dialogue.views.agents import agent_of, frame
from surfaces import addresses, toasts
from surfaces.doors import may_decide, may_manage
from surfaces.errors import RuleBroken
from surfaces.forms import HANDLE, Dressed
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.reach import Reach
from surfaces.requests import OperatorRequest
from surfaces.views.acting import sentences

SIZE = 25  # events on a page
TRIES = 10  # of one event, the last ones
LINES = 6  # of the ledger
# An open page looks again while an event should leave any moment, but not for ever.
WATCHED = timedelta(minutes=2)
SOON = timedelta(seconds=15)


class HookForm(Dressed, forms.Form):
    """Shape only; whether the address may be called is asked where it is kept."""

    kind = forms.ChoiceField(
        label="Way", choices=HookKind.choices, initial=HookKind.WEBHOOK, widget=forms.RadioSelect
    )
    url = forms.CharField(
        label="Address",
        max_length=addresses.LONGEST,
        help_text="Where we post to. Of an OpenClaw gateway its base is enough.",
        widget=forms.TextInput(attrs=HANDLE | {"inputmode": "url", "placeholder": "https://…"}),
        error_messages={"required": "Enter where the agent listens."},
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        max_length=4000,
        help_text=(
            "Webhook: whsec_ and base64; empty, we make one and show it once."
            " OpenClaw: the token of its hooks. Kept encrypted; empty keeps the one we have."
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    is_on = forms.BooleanField(
        label="Switched on",
        required=False,
        initial=True,
        help_text="Off: nothing is delivered; what is new is told when it is on again.",
        widget=forms.CheckboxInput(attrs={"class": "switch"}),
    )


@require_safe
def wake(request: OperatorRequest, slug: str) -> HttpResponse:
    pk = number(request.GET.get("event", ""))
    return _page(request, slug) if pk is None or not request.htmx else _row(request, slug, pk)


@sensitive_post_parameters("secret")
@sensitive_variables("form", "hooked")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def set_hook(request: OperatorRequest, slug: str) -> HttpResponse:
    """Show the page itself, not a redirect: a secret that we made is on this answer only."""
    if request.method != "POST":  # a link of that answer was followed
        return redirect(f"{reverse('dialogue:wake', args=[slug])}?{request.GET.urlencode()}")
    agent, form = agent_of(request, slug), HookForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, form=form, status=422)
    try:
        hooked = waking.set_hook(
            agent, **form.cleaned_data, by=request.user.actor, now=timezone.now()
        )
    except RuleBroken as error:
        form.add_error(None, str(error))
        return _page(request, slug, form=form, status=422)
    if not hooked.new_secret:
        toasts.say(request, f"Saved. {agent} is woken at {addresses.origin_of(hooked.hook.url)}.")
        return redirect("dialogue:wake", slug)
    return _page(request, slug, secret=hooked.new_secret)


@require_POST
@may_decide
def send_test(request: OperatorRequest, slug: str) -> HttpResponse:
    agent = agent_of(request, slug)
    hook = get_object_or_404(WakeHook.objects.select_related("agent"), agent=agent)
    with sentences(request):
        waking.send_test(hook, by=request.user.actor, now=timezone.now())
        toasts.say(request, "A test is on its way. What comes of it stands in the log.")
    return redirect("dialogue:wake", slug)


@require_POST
@may_decide
def resend(request: OperatorRequest, slug: str, pk: int) -> HttpResponse:
    rows = _within(WakeEvent.objects.select_related("hook__agent"), request.user.reach)
    event = get_object_or_404(rows, pk=pk, hook__agent=agent_of(request, slug))
    with sentences(request):
        waking.resend(event, by=request.user.actor, now=timezone.now())
        toasts.say(request, "It is delivered again, under the same id.")
    return _row(request, slug, pk, oob=True) if request.htmx else redirect("dialogue:wake", slug)


# ── what the page shows ───────────────────────────────────────────────────


def _form_of(hook: WakeHook | None) -> HookForm:
    kept = {"kind": hook.kind, "url": hook.url, "is_on": hook.is_on} if hook else None
    return HookForm(initial=kept)


def _page(
    request: OperatorRequest,
    slug: str,
    *,
    form: HookForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    shown = frame(request, slug, "wake")
    agent = shown["agent"]
    hook = WakeHook.objects.filter(agent=agent).first()
    shown |= {
        "hook": hook,
        "origin": addresses.origin_of(hook.url) if hook else "",
        "form": form or _form_of(hook),
        "new_secret": secret,
        "page": _log(agent, request.GET, request.user.reach),
        "allows_private": settings.WAKE_PRIVATE_ADDRESSES,
        "tries": len(waking.WAITS) + 1,
        "lines": AuditEvent.objects.about(agent).filter(action__startswith="wake.")[:LINES],
        "ledger_name": name_of(agent),
    }
    return render(request, "dialogue/wake.html", shown, status=status)


def _row(request: OperatorRequest, slug: str, pk: int, *, oob: bool = False) -> HttpResponse:
    agent = agent_of(request, slug)
    event = get_object_or_404(_shown(agent, request.user.reach), pk=pk)
    shown = {"agent": agent, "event": event, "oob": oob}
    return render(request, "dialogue/_wake_event.html", shown)


def _within(events: WakeEventQuerySet, reach: Reach) -> WakeEventQuerySet:
    """A test is about no account."""
    if reach.accounts is None:
        return events
    return events.filter(Q(account=None) | Q(account__in=sorted(reach.accounts)))


def _shown(agent: Agent, reach: Reach) -> QuerySet[WakeEvent]:
    """With what a row shows: its account, its last tries, and whether it moves just now."""
    now = timezone.now()
    moves = Q(state=EventState.WAITING, hook__is_on=True)
    moves &= Q(not_before__gt=now - WATCHED, not_before__lt=now + SOON)
    tries = Prefetch("log", queryset=WakeTry.objects.order_by("-id")[:TRIES], to_attr="last_tries")
    events = WakeEvent.objects.filter(hook__agent=agent).select_related("account", "hook")
    events = _within(events, reach)
    heavy = ["account__sealed_credential", "account__cursor", "hook__sealed_secret"]
    fresh = ExpressionWrapper(moves, output_field=BooleanField())
    return events.annotate(moves=fresh).defer(*heavy).prefetch_related(tries)


def _log(agent: Agent, given: Mapping[str, str], reach: Reach) -> Sheet[WakeEvent]:
    """One page by key; beyond either end, the newest."""
    page = sheet(_shown(agent, reach), {}, given, size=SIZE)
    is_beyond = not page.rows and ("before" in given or "after" in given)
    return sheet(_shown(agent, reach), {}, {}, size=SIZE) if is_beyond else page
