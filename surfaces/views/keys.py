"""API keys, for administrators; and what a key itself may ask about itself."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces import api_keys, toasts
from surfaces.doors import may_manage
from surfaces.errors import RuleBroken
from surfaces.forms import KeyForm
from surfaces.models import ApiKey, Surface
from surfaces.requests import OperatorRequest
from surfaces.signing_in import network_of
from surfaces.views.acting import sentences
from surfaces.views.doors import address_of

MOST = 200  # keys on the page, the newest
NO_KEY = "Send a key: Authorization: Bearer clq_…. An administrator makes one under Settings."
BAD_KEY = "This key is unknown, revoked or expired. An administrator can make another."


@require_safe
@may_manage
def keys(request: OperatorRequest) -> HttpResponse:
    return _list(request)


@sensitive_variables("issued")
@require_http_methods(["GET", "HEAD", "POST"])
@may_manage
def new_key(request: OperatorRequest) -> HttpResponse:
    """The token stands on this answer only."""
    form = KeyForm(request.POST or None)
    if form.is_bound and form.is_valid():
        try:
            issued = _issue(request, form)
        except RuleBroken as error:
            form.add_error(None, str(error))
        else:
            return _list(request, issued=issued)
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/keys_new.html", {"form": form}, status=status)


def _issue(request: OperatorRequest, form: KeyForm) -> api_keys.Issued:
    given, now = form.cleaned_data, timezone.now()
    operator, agent = form.owned()
    return api_keys.issue(
        name=given["name"],
        operator=operator,
        agent=agent,
        scope=given["scope"],
        surfaces=Surface.objects.filter(slug__in=given["surfaces"]),
        agents=given["agents"],
        expires_at=now + timedelta(days=given["days"]) if given["days"] else None,
        by=request.user.actor,
        now=now,
    )


@require_POST
@may_manage
def revoke(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(ApiKey, pk=pk)
    with sentences(request):
        api_keys.revoke(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, _("%(name)s opens nothing any more.") % {"name": found.name})
    return redirect("surfaces:keys")


def _list(request: OperatorRequest, *, issued: api_keys.Issued | None = None) -> HttpResponse:
    rows = ApiKey.objects.select_related("operator").prefetch_related("surfaces")
    now = timezone.now()
    found = [(key, key.ended(now)) for key in rows[:MOST]]
    live = [key for key, ended in found if not ended]
    shown = {"found": found, "live": len(live), "issued": issued, "most": MOST}
    return render(request, "surfaces/keys.html", shown)


# ── for programs ──────────────────────────────────────────────────────────


@login_not_required
@require_safe
def me(request: HttpRequest) -> JsonResponse:
    """What the key that is shown is and may. No session counts here."""
    kind, _space, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        return _unknown(NO_KEY)
    now = timezone.now()
    key = api_keys.holder(token.strip(), now=now)
    if key is None:
        wait = api_keys.refuse(token, network=network_of(address_of(request)), now=now)
        return _wait(wait) if wait else _unknown(BAD_KEY)
    limits = api_keys.limits(key)
    ends = key.expires_at.isoformat() if key.expires_at else None
    scope = "write" if key.may_write else "read"
    return JsonResponse({"name": key.name, "scope": scope, "limits": limits, "expires_at": ends})


def _unknown(why: str) -> JsonResponse:
    headers = {"WWW-Authenticate": 'Bearer realm="Colloquy"'}
    return JsonResponse({"error": why}, status=401, headers=headers)


def _wait(wait: timedelta) -> JsonResponse:
    seconds = max(1, round(wait.total_seconds()))
    why = f"Too many keys that are none. Wait {-(-seconds // 60)} min, then try again."
    return JsonResponse({"error": why}, status=429, headers={"Retry-After": str(seconds)})
