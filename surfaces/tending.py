"""Change how an account or a surface is read, and put it right after trouble."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from surfaces import budgets
from surfaces.changes import Change, check_seen, differences, set_back
from surfaces.errors import BadInput, NotAllowed
from surfaces.knobs import field_of
from surfaces.models import Account, AuditEvent, Surface
from surfaces.models.account import BadCredential, Mode, State
from surfaces.models.audit import name_of

ACCOUNT_CHANGED = "account.changed"
SURFACE_CHANGED = "surface.changed"
OF_ACCOUNT = ("mode", "every", "is_on")
OF_SURFACE = ("name", "is_on", "dialect")
LIMIT = "limit_"  # and the bucket: [requests, seconds], or None as the service documents it


# ── an account ────────────────────────────────────────────────────────────


def account_values(row: Account) -> dict[str, Any]:
    return {name: getattr(row, name) for name in OF_ACCOUNT}


@transaction.atomic
def change(
    account: Account,
    *,
    every: int,
    mode: str,
    is_on: bool,
    by: str,
    now: datetime,
    seen: Mapping[str, str] | None = None,
    why: str = "",
) -> Change:
    """Change what is different, in one line of the ledger."""
    if not 1 <= every <= 1440:
        raise BadInput(f"{every} min is out of bounds. Enter 1 to 1440 minutes between rounds.")
    if mode not in Mode.values:
        raise BadInput(f"{mode!r} is not a mode. Choose one of {', '.join(Mode.values)}.")
    row = Account.objects.select_for_update().get(pk=account.pk)
    before = account_values(row)
    check_seen(before, seen)
    given: dict[str, Any] = {"every": every, "mode": mode, "is_on": is_on}
    turned, line = differences(before, given), None
    if turned:
        soon = {"next_watch_at": now} if is_on and "is_on" in turned else {}
        Account.objects.filter(pk=row.pk).update(**given, **soon)
        line = AuditEvent.objects.record(ACCOUNT_CHANGED, actor=by, subject=row, why=why, **turned)
    account.refresh_from_db()
    return Change(turned, line.pk if line else None)


@transaction.atomic
def undo_account(account: Account, line: AuditEvent, *, by: str, now: datetime) -> Change:
    """Set back what one change did, unless it was changed again since."""
    _check_line(line, account, ACCOUNT_CHANGED)
    row = Account.objects.select_for_update().get(pk=account.pk)
    is_now = account_values(row)
    kept = is_now | set_back(line.facts, is_now, label=_label_of(Account))
    return change(account, **kept, by=by, now=now, why=f"Takes back line {line.pk}.")


def _check_line(line: AuditEvent, row: models.Model, action: str) -> None:
    if (line.subject, line.action) != (name_of(row), action):
        raise NotAllowed("This change cannot be taken back here. Set the values by hand.")


def _label_of(kind: type[models.Model]) -> Callable[[str], str]:
    def label(name: str) -> str:
        if name.startswith(LIMIT):
            return f"limit for {name.removeprefix(LIMIT).replace('_', ' ')}"
        return str(field_of(kind, name).verbose_name)

    return label


# ── a surface ─────────────────────────────────────────────────────────────


def surface_values(row: Surface) -> dict[str, Any]:
    """What can be set of it; of each limit our own, or None as the service documents it."""
    buckets = dict.fromkeys([*(limit.bucket for limit in row.documented), *row.limits])
    limits = {f"{LIMIT}{bucket}": row.limits.get(bucket) for bucket in buckets}
    return {name: getattr(row, name) for name in OF_SURFACE} | limits


@transaction.atomic
def change_surface(
    surface: Surface,
    values: Mapping[str, Any],
    *,
    by: str,
    seen: Mapping[str, str] | None = None,
    why: str = "",
) -> Change:
    """Change what is different, in one line of the ledger."""
    row = Surface.objects.select_for_update().get(pk=surface.pk)
    before = surface_values(row)
    before = {name: None for name in values if name.startswith(LIMIT)} | before
    check_seen(before, seen)
    if unknown := sorted(set(values).difference(before)):
        raise BadInput(f"{row} has no setting {', '.join(unknown)}.")
    turned = differences(before, values)
    if not turned:
        return Change({})
    new = {name: after for name, (_, after) in turned.items() if name in OF_SURFACE}
    limits = {name: value for name, value in values.items() if name.startswith(LIMIT)}
    kept = row.limits | {name.removeprefix(LIMIT): pace for name, pace in limits.items()}
    new["limits"] = {bucket: pace for bucket, pace in kept.items() if pace}
    _check_surface(row, new)
    Surface.objects.filter(pk=row.pk).update(**new)
    surface.refresh_from_db()
    line = AuditEvent.objects.record(SURFACE_CHANGED, actor=by, subject=row, why=why, **turned)
    return Change(turned, line.pk)


def _check_surface(row: Surface, new: Mapping[str, Any]) -> None:
    if new.get("dialect", row.dialect) not in {"", *row.traits.dialects, row.dialect}:
        known = ", ".join(filter(None, row.traits.dialects)) or "none"
        raise BadInput(f"{row.traits.label} has no such dialect; there is {known}.")
    try:
        for name, value in new.items():
            field_of(Surface, name).clean(value, None)
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error


@transaction.atomic
def undo_surface(surface: Surface, line: AuditEvent, *, by: str) -> Change:
    """Set back what one change did, unless it was changed again since."""
    _check_line(line, surface, SURFACE_CHANGED)
    row = Surface.objects.select_for_update().get(pk=surface.pk)
    # A limit that is gone is none of ours now.
    is_now = {name: None for name in line.facts if name.startswith(LIMIT)} | surface_values(row)
    kept = set_back(line.facts, is_now, label=_label_of(Surface))
    return change_surface(surface, kept, by=by, why=f"Takes back line {line.pk}.")


# ── what they do ──────────────────────────────────────────────────────────


@transaction.atomic
def watch_now(account: Account, *, by: str, now: datetime) -> None:
    """Make the next round due now."""
    if not (account.is_on and account.surface.is_on):
        raise NotAllowed(f"{account} is switched off, so it is not read. Switch it on first.")
    if account.state == State.AUTH_FAILED:
        raise NotAllowed(f"{account} cannot sign in. Enter a new credential, then clear it.")
    Account.objects.filter(pk=account.pk).update(next_watch_at=now)
    AuditEvent.objects.record("account.watch_asked", actor=by, subject=account)


@transaction.atomic
def clear(account: Account, *, by: str, now: datetime) -> None:
    """Take a person's word that the trouble is over; the next round finds out."""
    if account.state == State.OK:
        raise NotAllowed(f"{account} is working; there is nothing to clear.")
    before, why = account.state, account.state_why
    account.becomes(State.OK, now=now, challenges_failed=0, quiet_until=None, next_watch_at=now)
    with suppress(BadCredential):
        budgets.forget_waits(account.surface.kind, account.credential)
    AuditEvent.objects.record("account.cleared", actor=by, subject=account, was=before, was_why=why)


@transaction.atomic
def switch(surface: Surface, *, is_on: bool, by: str) -> None:
    """Switch a surface on or off: off, it is neither read nor written."""
    if not Surface.objects.filter(pk=surface.pk, is_on=not is_on).update(is_on=is_on):
        return
    surface.is_on = is_on
    action = "surface.switched_on" if is_on else "surface.switched_off"
    AuditEvent.objects.record(action, actor=by, subject=surface)
