"""Sign-in with throttling.

An attempt is stored before the password is checked and deleted when it was right, so that
concurrent attempts are all counted. After too many failures, sign-in is blocked for a while
(`attempts`). With two-factor authentication, the password alone does not sign in: the session only
stores who and when, for five minutes.
"""

from collections.abc import Callable, MutableMapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import authenticate
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput
from surfaces.operators import attempts, two_factor
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.text.reasons import FORMATS, StoredReason, reason

HALF_WAY = timedelta(minutes=5)  # between the password and the code
HALF = "half_signed_in"

Session = MutableMapping[str, Any]


def sign_in(
    request: HttpRequest,
    *,
    username: str,
    password: str,
    address: str,
    now: datetime,
    browser: str = "",
) -> Operator:
    """Return who this is. `BadInput`: wrong; `NotAllowed`: wrong too often, wait.
    With a second factor, the failures before stay counted: the code is still to come.
    """
    name = username.strip().lower()[:150]
    attempt, ours = attempts.begin(name, address=address, browser=browser, now=now)
    user = authenticate(request, username=username.strip(), password=password)
    if isinstance(user, Operator):
        (attempt if user.has_two_factor else ours).delete()
        return user
    if Operator.objects.filter(username=attempt.username).exists():
        _failed(attempt)
    raise BadInput(_lazy("Name or password is wrong. %(left)s"), left=attempts.attempts_left(ours))


def check_second_factor(
    operator: Operator,
    take: Callable[[], None],
    *,
    address: str,
    now: datetime,
    browser: str = "",
    why: str = "operator.wrong_code",
) -> None:
    """Take the second factor of somebody half signed in: `take` raises `BadInput` if it is wrong.
    Wrong ones count as wrong passwords do.
    """
    name = operator.username.lower()
    attempt, ours = attempts.begin(name, address=address, browser=browser, now=now)
    try:
        take()
    except BadInput as error:
        _failed(attempt, why=reason(why))
        words = FORMATS["sentences"]([str(error), attempts.attempts_left(ours)])
        raise BadInput(words) from error
    ours.delete()


def check_code(
    operator: Operator, code: str, *, address: str, now: datetime, browser: str = ""
) -> None:
    """A code of the app, or a recovery code."""
    check_second_factor(
        operator,
        lambda: two_factor.verify_code(operator, code, now=now),
        address=address,
        now=now,
        browser=browser,
    )


def check_password(
    operator: Operator, password: str, *, address: str, now: datetime, browser: str = ""
) -> None:
    """Ask who is signed in for the password again, throttled as at sign-in."""
    name = operator.username.lower()
    attempt, ours = attempts.begin(name, address=address, browser=browser, now=now)
    if not operator.check_password(password):
        _failed(attempt)
        raise BadInput(_lazy("The password is wrong. %(left)s"), left=attempts.attempts_left(ours))
    ours.delete()


@transaction.atomic
def change_password(operator: Operator, password: str) -> None:
    operator.set_password(password)
    operator.has_first_password = operator.owes_password = False
    operator.save(update_fields=["password", "has_first_password", "owes_password"])
    AuditEvent.objects.record("operator.changed_password", actor=operator.actor, subject=operator)


def remember_pending(session: Session, operator: Operator, *, then: str, now: datetime) -> None:
    """The right password was given; `then` is where to go after the code."""
    mark = operator.get_session_auth_hash()  # another password meanwhile, and it is void
    session[HALF] = {"pk": operator.pk, "at": now.timestamp(), "then": then, "mark": mark}


def pending_second_factor(session: Session, *, now: datetime) -> tuple[Operator, str] | None:
    """Who gave the right password in this browser just now, and where they wanted to go."""
    kept = session.get(HALF)
    if not kept or not 0 <= now.timestamp() - kept["at"] <= HALF_WAY.total_seconds():
        session.pop(HALF, None)
        return None
    operator = Operator.objects.filter(pk=kept["pk"], is_active=True).first()
    if operator and constant_time_compare(kept["mark"], operator.get_session_auth_hash()):
        return operator, str(kept["then"])
    session.pop(HALF, None)
    return None


def forget_pending(session: Session) -> None:
    session.pop(HALF, None)


def _failed(attempt: SignInAttempt, why: str | StoredReason = "") -> None:
    action, name = "operator.sign_in_failed", f"name:{attempt.username}"
    AuditEvent.objects.record(action, actor=attempt.network, subject=name, why=why)
