"""Pause and resume sending. Delivery checks for a pause in the statement that begins one."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent, AuditSubject, subject_of
from surfaces.errors import BadInput, NotAllowed
from surfaces.extension_points import end_waits
from surfaces.pauses.models import Pause, PauseScope
from surfaces.text.reasons import StoredReason


def pause(
    scope: str, subject: str = "", *, why: str | StoredReason, by: str, now: datetime
) -> Pause:
    """Pause, or return the pause that is already on."""
    scope, subject = _checked(scope, subject)
    try:
        with transaction.atomic():
            row = Pause.objects.create(scope=scope, subject=subject, why=why, by=by, since=now)
            _record("sending.paused", scope, subject, by=by, why=why)
            return row
    except IntegrityError:
        return Pause.objects.live().get(scope=scope, subject=subject)


@transaction.atomic
def resume(scope: str, subject: str = "", *, by: str, now: datetime) -> None:
    """End a pause, or say that there is none."""
    scope, subject = _checked(scope, subject)
    ended = Pause.objects.live().filter(scope=scope, subject=subject)
    row = ended.first()
    if row is None or not ended.update(ended_at=now, ended_by=by):
        what = f"{PauseScope(scope).label} {subject}".strip()
        raise NotAllowed(_lazy("%(what)s is not paused."), what=what)
    if scope == PauseScope.ACCOUNT:
        Account.objects.filter(name=subject).update(challenges_failed=0)
    end_waits(row, "resumed")
    _record("sending.resumed", scope, subject, by=by)


def _record(
    action: str, scope: PauseScope, subject: str, *, by: str, why: str | StoredReason = ""
) -> None:
    named = {"name": subject} if subject else {}
    AuditEvent.objects.record(action, actor=by, subject=_audited(scope, subject), why=why, **named)


def _audited(scope: PauseScope, subject: str) -> AuditSubject:
    """The name that the other events of the same row have."""
    if scope == PauseScope.ACCOUNT:
        return subject_of(Account.objects.get(name=subject))
    if scope == PauseScope.SURFACE:
        return subject_of(Surface.objects.get(slug=subject))
    if scope == PauseScope.AGENT:
        return AuditSubject(f"agent:{subject}", agent=subject)
    return AuditSubject(f"{scope}:")


def live() -> list[Pause]:
    return list(Pause.objects.live())


def reasons_of_surface(surface: Surface) -> list[Pause]:
    """All pauses that apply to every account of `surface`."""
    return list(Pause.objects.over(surface=surface.slug, account="", agent=""))


def reasons(account: Account, agent: str = "") -> list[Pause]:
    """All pauses that apply to `agent` and `account`."""
    surface = account.surface.slug
    return list(Pause.objects.over(surface=surface, account=account.name, agent=agent))


def _checked(scope: str, subject: str) -> tuple[PauseScope, str]:
    if scope not in PauseScope.values:
        message = _lazy("Pause all, a surface, an account or an agent; %(scope)s is none of them.")
        raise BadInput(message, scope=repr(scope))
    scope = PauseScope(scope)
    if scope == PauseScope.ALL:
        return scope, ""
    if not subject:
        raise BadInput(_lazy("Say which %(value)s is meant."), value=scope.label)
    if scope == PauseScope.SURFACE and not Surface.objects.filter(slug=subject).exists():
        message = _lazy("There is no surface %(subject)s. See the Surfaces page for the names.")
        raise BadInput(message, subject=subject)
    if scope == PauseScope.ACCOUNT and not Account.objects.filter(name=subject).exists():
        message = _lazy("There is no account %(subject)s. See the Surfaces page for the names.")
        raise BadInput(message, subject=subject)
    return scope, subject[:120]
