"""Change how an account or a surface is read, and put it right after trouble."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import transaction

from surfaces import budgets
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import Account, AuditEvent, Surface
from surfaces.models.account import BadCredential, Mode, State


@transaction.atomic
def change(
    account: Account, *, every: int, mode: str, is_on: bool, by: str, now: datetime
) -> dict[str, list[object]]:
    """Change what is different; return it as {name: [before, after]}."""
    if not 1 <= every <= 1440:
        raise BadInput(f"{every} min is out of bounds. Enter 1 to 1440 minutes between rounds.")
    if mode not in Mode.values:
        raise BadInput(f"{mode!r} is not a mode. Choose one of {', '.join(Mode.values)}.")
    row = Account.objects.select_for_update().get(pk=account.pk)
    given: dict[str, object] = {"every": every, "mode": mode, "is_on": is_on}
    changed = {
        name: [getattr(row, name), value]
        for name, value in given.items()
        if getattr(row, name) != value
    }
    if changed:
        soon = {"next_watch_at": now} if is_on and "is_on" in changed else {}
        Account.objects.filter(pk=row.pk).update(**given, **soon)
        facts: dict[str, Any] = {**changed}
        AuditEvent.objects.record("account.changed", actor=by, subject=row, **facts)
    account.refresh_from_db()
    return changed


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
