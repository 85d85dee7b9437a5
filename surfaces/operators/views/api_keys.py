"""API keys, for administrators; and what a key itself may ask about itself."""

from datetime import timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surfaces.accounts.models.surface import Surface
from surfaces.operators import api_keys
from surfaces.operators.attempts import network_of
from surfaces.operators.confirmation import password_confirmed
from surfaces.operators.forms import ApiKeyForm
from surfaces.operators.models.api_key import ApiKey
from surfaces.operators.permissions import admin_required
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, client_ip
from surfaces.web.responses import rule_errors_as_toasts, rule_errors_in_form

MOST = 200  # keys on the page, the newest
NO_KEY = _lazy(
    "Send a key: Authorization: Bearer clq_…. An administrator makes one under Settings."
)
BAD_KEY = _lazy("This key is unknown, revoked or expired. An administrator can make another.")


@require_safe
@admin_required
def keys(request: OperatorRequest) -> HttpResponse:
    return _list(request)


@sensitive_variables("issued")
@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
@password_confirmed
def new_key(request: OperatorRequest) -> HttpResponse:
    """The token stands on this answer only."""
    form = ApiKeyForm(request.POST or None)
    if form.is_valid():
        given, now = form.cleaned_data, timezone.now()
        operator, agent = form.owned()
        with rule_errors_in_form(form):
            issued = api_keys.issue(
                name=given["name"],
                operator=operator,
                agent=agent,
                scope=given["scope"],
                surfaces=Surface.objects.filter(slug__in=given["surfaces"]),
                agents=given["agents"],
                only_surfaces=given["only_surfaces"],
                only_agents=given["only_agents"],
                expires_at=now + timedelta(days=given["days"]) if given["days"] else None,
                by=request.user.actor,
                now=now,
            )
            return _list(request, issued=issued)
    status = 422 if form.is_bound else 200
    return render(request, "surfaces/operators/api_key_add.html", {"form": form}, status=status)


@require_POST
@admin_required
def revoke(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(ApiKey, pk=pk)
    with rule_errors_as_toasts(request):
        api_keys.revoke(found, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Key %(name)s revoked.") % {"name": found.name})
    return redirect("surfaces:keys")


def _list(request: OperatorRequest, *, issued: api_keys.IssuedKey | None = None) -> HttpResponse:
    rows = ApiKey.objects.select_related("operator").prefetch_related("surfaces")
    now = timezone.now()
    found = [(key, key.ended(now)) for key in rows[:MOST]]
    live = sum(not ended for _key, ended in found)
    shown = {"found": found, "live": live, "issued": issued, "most": MOST}
    return render(request, "surfaces/operators/api_keys.html", shown)


@csrf_exempt
@login_not_required
@require_safe
def me(request: HttpRequest) -> JsonResponse:
    """What the key that is shown is and may. No session counts here."""
    kind, _space, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        return _unknown(str(NO_KEY))
    now = timezone.now()
    key = api_keys.authenticate(token.strip(), now=now)
    if key is None:
        wait = api_keys.throttle(token, network=network_of(client_ip(request)), now=now)
        if wait is None:
            return _unknown(str(BAD_KEY))
        seconds = max(1, round(wait.total_seconds()))
        words = _("Too many invalid keys. Wait %(value)s min, then try again.")
        why = {"error": words % {"value": -(-seconds // 60)}}
        return JsonResponse(why, status=429, headers={"Retry-After": str(seconds)})
    limits = api_keys.limits(key)
    ends = key.expires_at.isoformat() if key.expires_at else None
    scope = "write" if key.may_write else "read"
    return JsonResponse({"name": key.name, "scope": scope, "limits": limits, "expires_at": ends})


def _unknown(why: str) -> JsonResponse:
    headers = {"WWW-Authenticate": 'Bearer realm="Colloquy"'}
    return JsonResponse({"error": why}, status=401, headers=headers)
