"""Throttle of sign-in: how many failed attempts a name, a network and an origin have.

An origin is a browser or a network that somebody signed in from before; all others together are
one origin. Failures of one origin slow that origin down and no other, so guessing from anywhere
neither goes on quickly nor keeps the operator out of a known browser.
"""

from __future__ import annotations

import hashlib
import ipaddress
from datetime import datetime, timedelta
from math import ceil

from django.db import connection, transaction
from django.db.models import Count, Max, Min, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from surfaces.errors import NotAllowed
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.operator import Operator
from surfaces.operators.models.sign_in_attempt import SignInAttempt

WINDOW = timedelta(minutes=15)
DAY = timedelta(days=1)
MOST_FOR_ONE = 5  # failures per name and network
MOST_FOR_ALL = 25  # failures per network, whatever the names
FREE = 10  # failures per name and origin in a day before each further one has to wait
STEP = 5  # failures after which the wait doubles
MAX_WAIT = timedelta(hours=1)
LOCKS = 0x516E1  # class of advisory locks

Attempts = QuerySet[SignInAttempt]


def wait_after(failures: int) -> timedelta:
    """How long after the last failure of an origin the next attempt is taken."""
    if failures < FREE:
        return timedelta(0)
    return min(MAX_WAIT, timedelta(minutes=2 ** min((failures - FREE) // STEP, 10)))


def origin_of(name: str, *, browser: str, network: str) -> str:
    """The known browser, else the known network; "" for anywhere else. `browser`: its cookie."""
    known = KnownBrowser.objects.filter(operator__username__iexact=name)
    if browser and known.filter(digest=digest_of(browser)).exists():
        return f"browser:{digest_of(browser)}"
    return f"network:{network}" if known.filter(network=network).exists() else ""


@transaction.atomic
def begin(
    name: str, *, address: str, browser: str, now: datetime
) -> tuple[SignInAttempt, Attempts]:
    """Store the attempt, and return it with all that a right one deletes; or say wait.
    Attempts of one name or network are counted one after the other.
    """
    network = network_of(address)
    _lock(network)
    _lock(name)
    origin = origin_of(name, browser=browser, network=network)
    recent = SignInAttempt.objects.filter(network=network, at__gt=now - WINDOW)
    ours, caps = recent.filter(username=name), [(recent, MOST_FOR_ALL)]
    if origin.startswith("browser:"):  # its network may be somebody else's, too
        named = SignInAttempt.objects.filter(username=name, at__gt=now - WINDOW)
        ours, caps = named.filter(origin=origin), []
    for tries, most in ((ours, MOST_FOR_ONE), *caps):
        # In one query: a right attempt deletes rows meanwhile.
        found = tries.aggregate(count=Count("pk"), first=Min("at"))
        if found["count"] >= most:
            words = _("Too many wrong passwords. Wait %(minutes)s min, then try again.")
            raise _too_many(words, found["first"] + WINDOW - now)
    failed = SignInAttempt.objects.filter(username=name, origin=origin, at__gt=now - DAY)
    found = failed.aggregate(count=Count("pk"), last=Max("at"))
    if found["count"]:
        left = found["last"] + wait_after(found["count"]) - now
        if left > timedelta(0):
            words = _(
                "Too many failed sign-ins for this name. Wait %(minutes)s min, or use a browser in"
                " which you signed in before."
            )
            raise _too_many(words, left)
    attempt = SignInAttempt.objects.create(username=name, network=network, origin=origin, at=now)
    return attempt, ours


def failures_since(operator: Operator, since: datetime | None) -> int:
    """Failed sign-ins under this name, as far back as attempts are kept."""
    rows = SignInAttempt.objects.filter(username=operator.username.lower())
    return (rows.filter(at__gt=since) if since else rows).count()


def attempts_left(ours: Attempts) -> str:
    left = MOST_FOR_ONE - ours.count()
    if left <= 0:
        return _("No attempts left for 15 min.")
    return ngettext(
        "%(left)s attempt left, then a 15 min wait.",
        "%(left)s attempts left, then a 15 min wait.",
        left,
    ) % {"left": left}


def digest_of(browser: str) -> str:
    return hashlib.sha256(browser.encode()).hexdigest()


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


def _too_many(words: str, left: timedelta) -> NotAllowed:
    return NotAllowed(words % {"minutes": max(1, ceil(left.total_seconds() / 60))})


def _lock(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [LOCKS, text])
