"""Known browsers: where an operator signed in before, by a random cookie and the network."""

import re
from datetime import datetime

from surfaces.operators.attempts import digest_of
from surfaces.operators.models.known_browser import KnownBrowser
from surfaces.operators.models.operator import Operator

# The first that a user agent names; most name others, too.
PROGRAMS = (
    ("Edge", r"\bEdg(e|A|iOS)?/"), ("Opera", r"\bOPR/"), ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS)/"), ("Safari", r"\bSafari/"),
)  # fmt: skip
SYSTEMS = (
    ("Windows", "Windows"), ("Android", "Android"), ("iOS", "iPhone|iPad"), ("macOS", "Mac OS X"),
    ("ChromeOS", "CrOS"), ("Linux", "Linux"),
)  # fmt: skip


def describe(user_agent: str) -> str:
    """ "Firefox, Linux"; of a program that is no browser, how it calls itself."""
    named = [
        next((name for name, pattern in table if re.search(pattern, user_agent)), "")
        for table in (PROGRAMS, SYSTEMS)
    ]
    known = ", ".join(filter(None, named)) if named[0] else ""
    plain = "".join(letter for letter in user_agent[:40] if letter.isprintable())
    return known or plain or "?"


def remember(operator: Operator, cookie: str, *, browser: str, network: str, now: datetime) -> None:
    """After a sign-in: failures elsewhere do not slow this browser and network down."""
    rows = KnownBrowser.objects.filter(operator=operator)
    where = {"digest": digest_of(cookie), "network": network[:43]}
    if rows.filter(**where).update(seen_at=now, browser=browser):
        return
    is_first = not rows.exists()
    facts = {"browser": browser, "is_first": is_first, "made_at": now, "seen_at": now}
    KnownBrowser.objects.get_or_create(operator=operator, **where, defaults=facts)
