"""Let operators in, and let nobody guess.

A try is written down before the password is looked at and taken away when it was
right, so that many tries at once count as many. Who has failed too often waits.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta
from math import ceil

from django.contrib.auth import authenticate
from django.http import HttpRequest

from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent, Operator, SignInAttempt

WINDOW = timedelta(minutes=15)
MOST_FOR_ONE = 5  # failures per name and network
MOST_FOR_ALL = 25  # failures per network, whatever the names


def sign_in(
    request: HttpRequest, *, username: str, password: str, address: str, now: datetime
) -> Operator:
    """Return who this is. `BadInput`: wrong; `NotAllowed`: wrong too often, wait."""
    name, network = username.strip().lower()[:150], network_of(address)
    attempt = SignInAttempt.objects.create(username=name, network=network, at=now)
    recent = SignInAttempt.objects.out_of(network).since(now - WINDOW)
    ours = recent.as_whom(name)

    for tries, most in ((ours, MOST_FOR_ONE), (recent, MOST_FOR_ALL)):
        if tries.count() > most:
            attempt.delete()  # asking while locked out does not make it longer
            raise NotAllowed(_wait(tries.earliest("at").at, now))

    user = authenticate(request, username=username.strip(), password=password)
    if isinstance(user, Operator):
        ours.delete()
        return user

    left = MOST_FOR_ONE - ours.count()
    if Operator.objects.filter(username=name).exists():
        AuditEvent.objects.record("operator.sign_in_failed", actor=network, subject=f"name:{name}")
    raise BadInput(f"Name or password is wrong. {_left(left)}")


def change_password(operator: Operator, password: str) -> None:
    operator.set_password(password)
    operator.has_first_password = False
    operator.save(update_fields=["password", "has_first_password"])
    AuditEvent.objects.record("operator.changed_password", actor=operator.actor, subject=operator)


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


def _left(left: int) -> str:
    if left > 0:
        return f"{left} {'try' if left == 1 else 'tries'} left, then a 15 min wait."
    return "That was the last try for 15 min."


def _wait(first: datetime, now: datetime) -> str:
    minutes = max(1, ceil((first + WINDOW - now).total_seconds() / 60))
    return f"Too many wrong passwords. Wait {minutes} min, then try again."
