"""Surfaces and accounts: what state they are in, and the acts that change it."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from surfaces import left, overview, pausing, reaching, tending, toasts
from surfaces.changes import Change
from surfaces.doors import may_decide, may_manage
from surfaces.models import Account, AuditEvent, Surface
from surfaces.models.account import AccountQuerySet
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.settings_forms import AccountForm, account_history, by_name
from surfaces.tuned import Tuned
from surfaces.views.acting import back, sentences
from surfaces.views.settings import Saving, line_of, save, say_saved, undoing
from surfaces.views.settings import shown as shown_settings

ROUNDS = 12
LINES = 8


@require_safe
def surfaces(request: OperatorRequest) -> HttpResponse:
    found = list(_surfaces(request))
    return render(request, "surfaces/surfaces.html", {"found": _with_news(found)})


@require_safe
def surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(_surfaces(request), slug=slug)
    shown = {
        "surface": found,
        "accounts": _with_news([found])[0][1],
        "lines": AuditEvent.objects.about(found)[:LINES],
        "ledger_name": name_of(found),
    }
    return render(request, "surfaces/surface.html", shown)


@require_POST
@may_manage
def switch_surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Surface, slug=slug)
    is_on = request.POST.get("is_on") == "on"
    tending.switch(found, is_on=is_on, by=request.user.actor)
    words = "on" if is_on else "off: neither read nor written"
    toasts.say(request, f"{found} is {words}.", undo=request.path, is_on="" if is_on else "on")
    return back(request, "surfaces:surface", slug)


@require_safe
def account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_accounts(request).select_related("surface"), pk=pk)
    return _account_page(request, found)


@require_POST
@may_manage
def change_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_accounts(request).select_related("surface"), pk=pk)
    form = AccountForm(tending.account_values(found), request.POST)
    by, at = request.user.actor, timezone.now()

    def verb(given: Tuned) -> Change:
        return tending.change(found, **given.cleaned_data, by=by, now=at, seen=given.was_seen())

    def again() -> dict[str, Any]:
        found.refresh_from_db()
        return tending.account_values(found)

    saving = save(request, form, verb, again)
    if saving.change is None:
        return _account_page(request, found, saving)
    undo = reverse("surfaces:undo_account", args=[pk])
    say_saved(request, saving.change, by_name(AccountForm.parts), undo)
    return redirect("surfaces:account", pk)


@require_POST
@may_manage
def undo_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_accounts(request).select_related("surface"), pk=pk)
    line = line_of(request, name_of(found))
    with undoing(request, by_name(AccountForm.parts)) as done:
        at = timezone.now()
        done.append(tending.undo_account(found, line, by=request.user.actor, now=at))
    return back(request, "surfaces:account", pk)


@require_POST
@may_decide
def watch_now(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_accounts(request).select_related("surface"), pk=pk)
    with sentences(request):
        tending.watch_now(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"A round for {found} is due now; the watcher takes it in seconds.")
    return back(request, "surfaces:account", pk)


@require_POST
@may_decide
def resume_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_accounts(request), pk=pk)
    with sentences(request):
        tending.clear(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{found} counts as working again; the next round finds out.")
    return back(request, "surfaces:account", pk)


def _accounts(request: OperatorRequest) -> AccountQuerySet:
    return request.user.reach.narrow(Account.objects.all(), account="pk", agent="")


def _surfaces(request: OperatorRequest) -> QuerySet[Surface]:
    """With the accounts within reach, and only where there is one."""
    rows = Surface.objects.prefetch_related(Prefetch("accounts", _accounts(request)))
    places = reaching.surfaces_within(request.user.reach)
    return rows if places is None else rows.filter(pk__in=places)


# ── what the pages show ───────────────────────────────────────────────────


def _with_news(found: list[Surface]) -> list[tuple[Surface, list[dict[str, object]]]]:
    """Each surface with its accounts, their last round and what is left of their budgets."""
    accounts = [account for surface in found for account in surface.accounts.all()]
    for surface in found:
        for account in surface.accounts.all():
            account.surface = surface
    rounds, budgets = overview.latest_rounds(accounts), left.budgets(accounts, now=timezone.now())
    return [
        (
            surface,
            [
                {
                    "account": account,
                    "round": rounds.get(account.pk),
                    "tightest": min(
                        budgets[account.pk], key=lambda budget: budget.share, default=None
                    ),
                }
                for account in surface.accounts.all()
            ],
        )
        for surface in found
    ]


def _account_page(
    request: OperatorRequest, found: Account, saving: Saving | None = None
) -> HttpResponse:
    form = saving.form if saving else AccountForm(tending.account_values(found))
    reasons, now = pausing.reasons(found), timezone.now()
    shown = {
        "account": found,
        **shown_settings(form, account_history(found), saving),
        "rounds": found.rounds.all()[:ROUNDS],
        "budgets": left.budgets([found], now=now)[found.pk],
        "is_due": found.next_watch_at <= now,
        "reasons": reasons,
        "own_pause": any(pause.scope == "account" for pause in reasons),
        "lines": AuditEvent.objects.about(found)[:LINES],
        "ledger_name": name_of(found),
    }
    return render(request, "surfaces/account.html", shown, status=saving.status if saving else 200)
