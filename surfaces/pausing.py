"""Stop speaking, at once and everywhere, and start again.

A pause is a row. `delivery` asks for it in the moment of sending, in the same
statement that marks the sending as begun.
"""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from surfaces.errors import BadInput, NotAllowed
from surfaces.models import Account, AuditEvent, Pause, Surface
from surfaces.models.pause import Scope


def pause(scope: str, subject: str = "", *, why: str, by: str, now: datetime) -> Pause:
    """Pause, or return the pause that is already on."""
    scope, subject = _checked(scope, subject)
    try:
        with transaction.atomic():
            row = Pause.objects.create(
                scope=scope, subject=subject, why=why[:400], by=by, since=now
            )
            AuditEvent.objects.record(
                "sending.paused", actor=by, subject=f"{scope}:{subject}", why=why
            )
    except IntegrityError:
        return Pause.objects.live().get(scope=scope, subject=subject)
    return row


@transaction.atomic
def resume(scope: str, subject: str = "", *, by: str, now: datetime) -> None:
    """End a pause, or say that there is none."""
    scope, subject = _checked(scope, subject)
    ended = Pause.objects.live().filter(scope=scope, subject=subject)
    if not ended.update(ended_at=now, ended_by=by):
        raise NotAllowed(f"{Scope(scope).label} {subject}".strip() + " is not paused.")
    if scope == Scope.ACCOUNT:
        Account.objects.filter(name=subject).update(challenges_failed=0)
    AuditEvent.objects.record("sending.resumed", actor=by, subject=f"{scope}:{subject}")


def live() -> list[Pause]:
    return list(Pause.objects.live())


def reasons(account: Account, agent: str = "") -> list[Pause]:
    """Every pause that keeps `agent` from speaking as `account`."""
    found = Pause.objects.over(surface=account.surface.slug, account=account.name, agent=agent)
    return list(found)


def _checked(scope: str, subject: str) -> tuple[Scope, str]:
    if scope not in Scope.values:
        raise BadInput(f"Pause all, a surface, an account or an agent; {scope!r} is none of them.")
    scope = Scope(scope)
    if scope == Scope.ALL:
        return scope, ""
    if not subject:
        raise BadInput(f"Say which {scope.value} is meant.")
    if scope == Scope.SURFACE and not Surface.objects.filter(slug=subject).exists():
        raise BadInput(f"There is no surface {subject}. See the Surfaces page for the names.")
    if scope == Scope.ACCOUNT and not Account.objects.filter(name=subject).exists():
        raise BadInput(f"There is no account {subject}. See the Surfaces page for the names.")
    return scope, subject[:120]
