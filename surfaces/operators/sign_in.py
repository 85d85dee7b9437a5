"""Sign-in with throttling.

An attempt is stored before the password is checked and deleted when it was right, so that
concurrent attempts are all counted. After too many failures, sign-in is blocked for a while. With
two-factor authentication, the password alone does not sign in: the session only stores who and
when, for five minutes.
"""

import ipaddress
from collections.abc import MutableMapping
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.contrib.auth import authenticate
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from surfaces.audit.models import AuditEvent
from surfaces.errors import BadInput, NotAllowed
from surfaces.operators import two_factor
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt
from surfaces.text.reasons import FORMATS, StoredReason, reason

WINDOW = timedelta(minutes=15)
MOST_FOR_ONE = 5  # failures per name and network
MOST_FOR_ALL = 25  # failures per network, whatever the names
HALF_WAY = timedelta(minutes=5)  # between the password and the code
HALF = "half_signed_in"

Session = MutableMapping[str, Any]
Attempts = QuerySet[SignInAttempt]


def sign_in(
    request: HttpRequest, *, username: str, password: str, address: str, now: datetime
) -> Operator:
    """Return who this is. `BadInput`: wrong; `NotAllowed`: wrong too often, wait.
    With a second factor, the failures before stay counted: the code is still to come.
    """
    attempt, ours = _begun(username.strip().lower()[:150], address, now)
    user = authenticate(request, username=username.strip(), password=password)
    if isinstance(user, Operator):
        (attempt if user.has_two_factor else ours).delete()
        return user
    if Operator.objects.filter(username=attempt.username).exists():
        _failed(attempt)
    raise BadInput(_lazy("Name or password is wrong. %(left)s"), left=_left(ours))


def check_code(operator: Operator, code: str, *, address: str, now: datetime) -> None:
    """Take the code of somebody half signed in; wrong ones count as wrong passwords do."""
    attempt, ours = _begun(operator.username.lower(), address, now)
    try:
        two_factor.verify_code(operator, code, now=now)
    except BadInput as error:
        _failed(attempt, why=reason("operator.wrong_code"))
        raise BadInput(FORMATS["sentences"]([str(error), _left(ours)])) from error
    ours.delete()


def check_password(operator: Operator, password: str, *, address: str, now: datetime) -> None:
    """Ask who is signed in for the password again, with the same tries as at the door."""
    attempt, ours = _begun(operator.username.lower(), address, now)
    if not operator.check_password(password):
        _failed(attempt)
        raise BadInput(_lazy("The password is wrong. %(left)s"), left=_left(ours))
    ours.delete()


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


def _begun(name: str, address: str, now: datetime) -> tuple[SignInAttempt, Attempts]:
    """Write the try down, and return it with all of that name from there; or say wait."""
    network = network_of(address)
    attempt = SignInAttempt.objects.create(username=name, network=network, at=now)
    recent = SignInAttempt.objects.filter(network=network, at__gt=now - WINDOW)
    ours = recent.filter(username=name)
    for tries, most in ((ours, MOST_FOR_ONE), (recent, MOST_FOR_ALL)):
        if tries.count() > most:
            attempt.delete()  # asking while locked out does not make it longer
            minutes = ceil((tries.earliest("at").at + WINDOW - now).total_seconds() / 60)
            words = _("Too many wrong passwords. Wait %(minutes)s min, then try again.")
            raise NotAllowed(words % {"minutes": max(1, minutes)})
    return attempt, ours


def _failed(attempt: SignInAttempt, why: str | StoredReason = "") -> None:
    action, name = "operator.sign_in_failed", f"name:{attempt.username}"
    AuditEvent.objects.record(action, actor=attempt.network, subject=name, why=why)


def network_of(address: str) -> str:
    """The address; of IPv6 the /64 around it, because one household has all of that."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def _left(ours: Attempts) -> str:
    left = MOST_FOR_ONE - ours.count()
    if left <= 0:
        return _("No attempts left for 15 min.")
    return ngettext(
        "%(left)s attempt left, then a 15 min wait.",
        "%(left)s attempts left, then a 15 min wait.",
        left,
    ) % {"left": left}
