"""What operators do with an account or a surface: poll now, clear an error, switch."""

from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from surfaces.accounts import rate_limits
from surfaces.accounts.models.account import Account, BadCredential
from surfaces.accounts.models.account import AccountState as AccountState
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent
from surfaces.errors import AuthFailed, NotAllowed, SurfaceError, Suspended
from surfaces.extension_points import end_waits


@transaction.atomic
def watch_now(account: Account, *, by: str, now: datetime) -> None:
    """Make the next poll due now."""
    if not (account.is_on and account.surface.is_on):
        raise NotAllowed(_("%(name)s is disabled. Enable it first."), name=account)
    if account.state == AccountState.AUTH_FAILED:
        message = _("The service rejects the credential of %(name)s. Enter a new one first.")
        raise NotAllowed(message, name=account)
    Account.objects.filter(pk=account.pk).update(next_watch_at=now)
    AuditEvent.objects.record("account.watch_asked", actor=by, subject=account)


@transaction.atomic
def clear(account: Account, *, by: str, now: datetime) -> None:
    """Clear an error that a person fixed; the next poll checks the account."""
    if account.state == AccountState.OK:
        raise NotAllowed(_("%(name)s has no error to clear."), name=account)
    before, why = account.state, account.state_why
    account.becomes(
        AccountState.OK, now=now, challenges_failed=0, quiet_until=None, next_watch_at=now
    )
    surface = account.surface
    with suppress(BadCredential):
        url = surface.base_url or surface.traits.base_url
        rate_limits.clear_waits(surface.kind, account.credential, url)
    end_waits(account, "state", "cleared")
    AuditEvent.objects.record("account.cleared", actor=by, subject=account, was=before, was_why=why)


@transaction.atomic
def switch(surface: Surface, *, is_on: bool, by: str) -> None:
    """Enable or disable a surface; a disabled one is neither read nor written."""
    if not Surface.objects.filter(pk=surface.pk, is_on=not is_on).update(is_on=is_on):
        return
    surface.is_on = is_on
    end_waits(surface, "is_on")
    action = "surface.switched_on" if is_on else "surface.switched_off"
    AuditEvent.objects.record(action, actor=by, subject=surface)


@transaction.atomic
def recover(account: Account, *, now: datetime) -> None:
    """It works again: what waited for the service is due."""
    account.becomes(AccountState.OK, now=now, quiet_until=None)
    end_waits(account, "state")


def stop_account(account: Account, error: SurfaceError, *, now: datetime) -> None:
    """Record an auth failure, suspension or payment error, which stops writing."""
    state = AccountState.AUTH_FAILED if isinstance(error, AuthFailed) else AccountState.SUSPENDED
    until = error.until if isinstance(error, Suspended) else None
    why = error.reason
    if account.becomes(state, now=now, why=why, until=until):
        AuditEvent.objects.record(f"account.{state}", actor="colloquy", subject=account, why=why)
