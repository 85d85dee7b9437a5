"""Surfaces and accounts: what state they are in, and the acts that change it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from surfaces import forms, left, overview, pausing, tending, toasts
from surfaces.doors import may_decide, may_manage
from surfaces.models import Account, AuditEvent, Surface
from surfaces.models.audit import name_of
from surfaces.requests import OperatorRequest
from surfaces.views.acting import back, sentences

ROUNDS = 12
LINES = 8


@require_safe
def surfaces(request: OperatorRequest) -> HttpResponse:
    found = list(Surface.objects.prefetch_related("accounts"))
    return render(request, "surfaces/surfaces.html", {"found": _with_news(found)})


@require_safe
def surface(request: OperatorRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Surface.objects.prefetch_related("accounts"), slug=slug)
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
    found = get_object_or_404(Account.objects.select_related("surface"), pk=pk)
    return _account_page(request, found, forms.AccountForm(instance=found))


@require_POST
@may_manage
def change_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Account.objects.select_related("surface"), pk=pk)
    form = forms.AccountForm(request.POST, instance=found)
    if not form.is_valid():
        found.refresh_from_db()
        return _account_page(request, found, form)
    changed: dict[str, list[object]] = {}
    with sentences(request):
        changed = tending.change(
            found, **form.cleaned_data, by=request.user.actor, now=timezone.now()
        )
    if changed:
        toasts.say(request, f"Saved: {_in_words(changed)}.")
    return redirect("surfaces:account", pk)


@require_POST
@may_decide
def watch_now(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Account.objects.select_related("surface"), pk=pk)
    with sentences(request):
        tending.watch_now(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"A round for {found} is due now; the watcher takes it in seconds.")
    return back(request, "surfaces:account", pk)


@require_POST
@may_decide
def resume_account(request: OperatorRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Account, pk=pk)
    with sentences(request):
        tending.clear(found, by=request.user.actor, now=timezone.now())
        toasts.say(request, f"{found} counts as working again; the next round finds out.")
    return back(request, "surfaces:account", pk)


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
    request: OperatorRequest, found: Account, form: forms.AccountForm
) -> HttpResponse:
    reasons, now = pausing.reasons(found), timezone.now()
    shown = {
        "account": found,
        "form": form,
        "rounds": found.rounds.all()[:ROUNDS],
        "budgets": left.budgets([found], now=now)[found.pk],
        "is_due": found.next_watch_at <= now,
        "reasons": reasons,
        "own_pause": any(pause.scope == "account" for pause in reasons),
        "lines": AuditEvent.objects.about(found)[:LINES],
        "ledger_name": name_of(found),
    }
    return render(request, "surfaces/account.html", shown, status=422 if form.errors else 200)


def _in_words(changed: dict[str, list[object]]) -> str:
    words = {name: after for name, (_, after) in changed.items()}
    said = []
    if "every" in words:
        said.append(f"read every {words['every']} min")
    if "mode" in words:
        said.append(f"mode {words['mode']}")
    if "is_on" in words:
        said.append("switched on" if words["is_on"] else "switched off")
    return ", ".join(said)
