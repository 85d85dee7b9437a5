"""Pages of surfaces and accounts: their state, and actions on them."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from surfaces.accounts import rate_limit_usage, services
from surfaces.accounts.forms import AccountForm
from surfaces.accounts.models.account import Account, AccountQuerySet
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent, name_of
from surfaces.operators import scope_queries
from surfaces.operators.permissions import admin_required, moderator_required
from surfaces.pauses import services as pause_services
from surfaces.settings.form_views import SettingsPage
from surfaces.watcher import reading_state
from surfaces.watcher.models import WatchRound
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

ROUNDS = 12
LINES = 8


@require_safe
def surfaces(request: OperatorRequest) -> HttpResponse:
    found = list(_surfaces(request))
    return render(request, "surfaces/accounts/surfaces.html", {"found": _with_news(found)})


@require_safe
def surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(_surfaces(request), slug=slug)
    reasons = pause_services.reasons_of_surface(found)
    shown = {
        "surface": found,
        "reasons": reasons,
        "own_pause": any(pause.scope == "surface" for pause in reasons),
        "accounts": _with_news([found])[0][1],
        "lines": AuditEvent.objects.about(found)[:LINES],
        "ledger_name": name_of(found),
    }
    return render(request, "surfaces/accounts/surface.html", shown)


@require_POST
@admin_required
def switch_surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Surface, slug=slug)
    is_on = request.POST.get("is_on") == "on"
    services.switch(found, is_on=is_on, by=request.user.actor)
    words = _("%(surface)s disabled: messages are neither read nor sent.")
    words = (_("%(surface)s enabled.") if is_on else words) % {"surface": found}
    toasts.show_toast(request, words, undo=request.path, is_on="" if is_on else "on")
    return redirect_back(request, "surfaces:surface", slug)


@require_POST
@moderator_required
def watch_now(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _account(request, pk)
    with rule_errors_as_toasts(request):
        services.watch_now(found, by=request.user.actor, now=timezone.now())
        words = _("Poll requested for %(found)s. The watcher starts it within seconds.")
        toasts.show_toast(request, words % {"found": found})
    return redirect_back(request, "surfaces:account", pk)


@require_POST
@moderator_required
def resume_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = _account(request, pk)
    with rule_errors_as_toasts(request):
        services.clear(found, by=request.user.actor, now=timezone.now())
        toasts.show_toast(request, _("Error cleared. The next poll will check the account."))
    return redirect_back(request, "surfaces:account", pk)


def _accounts(request: OperatorRequest) -> AccountQuerySet:
    return request.user.reach.narrow(Account.objects.all(), account="pk", agent="")


def _account(request: OperatorRequest, pk: int) -> Account:
    return get_object_or_404(_accounts(request).select_related("surface"), pk=pk)


def _surfaces(request: OperatorRequest) -> QuerySet[Surface]:
    """Surfaces with at least one visible account."""
    rows = Surface.objects.prefetch_related(Prefetch("accounts", _accounts(request)))
    places = scope_queries.surfaces_within(request.user.reach)
    return rows if places is None else rows.filter(pk__in=places)


def _with_news(found: list[Surface]) -> list[tuple[Surface, list[dict[str, object]]]]:
    """Add the accounts, their last poll and their remaining rate limits."""
    accounts = [account for surface in found for account in surface.accounts.all()]
    latest = WatchRound.objects.filter(account__in=accounts).latest_of_each()
    rounds = {row.account_id: row for row in latest}
    budgets = rate_limit_usage.rate_limit_usage(accounts, now=timezone.now())

    def news(account: Account) -> dict[str, object]:
        tightest = min(budgets[account.pk], key=lambda each: each.share, default=None)
        return {"account": account, "round": rounds.get(account.pk), "tightest": tightest}

    return [(surface, [news(each) for each in surface.accounts.all()]) for surface in found]


def _account_context(_request: OperatorRequest, form: AccountForm) -> dict[str, Any]:
    found = form.row
    reasons, now = pause_services.reasons(found), timezone.now()
    return {
        "account": found,
        "rounds": found.rounds.all()[:ROUNDS],
        "budgets": rate_limit_usage.rate_limit_usage([found], now=now)[found.pk],
        "is_due": found.next_watch_at <= now,
        "reading": reading_state.of_account(found),
        "reasons": reasons,
        "own_pause": any(pause.scope == "account" for pause in reasons),
        "lines": AuditEvent.objects.about(found)[:LINES],
        "ledger_name": name_of(found),
    }


PAGE = SettingsPage(
    form=AccountForm,
    template="surfaces/accounts/account.html",
    name="surfaces:account",
    undo_name="surfaces:undo_account",
    key="pk",
    context=_account_context,
)
_page, _undo = PAGE.views(_account)
account = require_safe(_page)
change_account = require_POST(admin_required(_page))
undo_account = require_POST(admin_required(_undo))
