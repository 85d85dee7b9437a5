"""Filters of the desk, parsed from a query string and back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Self

from django.db.models import Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan
from django.utils.translation import gettext_lazy as _

from surfaces.desk.kinds import kinds
from surfaces.desk.models import DeskItemQuerySet, Risk
from surfaces.web.requests import parse_id

LONGEST = 120
SOON = timedelta(hours=1)
ORDERS = {"expiry": _("Expiry, then oldest first"), "risk": _("Risk first"), "newest": _("Newest")}
RISKS = {"high": (Risk.HIGH, _("High")), "some": (Risk.SOME, _("Medium or high"))}
AGES = {
    "1h": (timedelta(hours=1), _("Over 1 h")),
    "4h": (timedelta(hours=4), _("Over 4 h")),
    "1d": (timedelta(days=1), _("Over 1 d")),
    "7d": (timedelta(days=7), _("Over 7 d")),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class DeskFilters:
    """Filters and order. Invalid values are ignored."""

    kind: str = ""
    agent: str = ""
    surface: str = ""  # a slug
    account: str = ""  # an id, in digits
    risk: str = ""
    age: str = ""
    expires: str = ""  # "1h"
    later: str = ""  # "1": snoozed items
    q: str = ""
    order: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        allowed: dict[str, Collection[str]] = {
            "kind": kinds(), "risk": RISKS, "age": AGES, "expires": ["1h"], "later": ["1"],
            "order": ORDERS,
        }  # fmt: skip
        found = {}
        for each in fields(cls):
            # A form carries a query within its own text, where the edge does not look for NUL.
            value = str(given.get(each.name, "")).replace("\0", "").strip()[:LONGEST]
            is_known = value in allowed.get(each.name, [value])
            is_number = each.name != "account" or parse_id(value) is not None
            found[each.name] = value if is_known and is_number else ""
        return cls(**found)

    def query(self) -> dict[str, str]:
        """Non-empty filters in a fixed order, so that equal views have equal URLs."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value}

    @property
    def is_everything(self) -> bool:
        return not set(self.query()) - {"order"}

    def of_rows(self, rows: DeskItemQuerySet, now: datetime) -> DeskItemQuerySet:
        rows = rows.put_off(now) if self.later else rows.in_sight(now)
        rows = rows.filter(kind__in=[self.kind] if self.kind else [*kinds()])
        exact = {
            "agent": self.agent, "account__surface__slug": self.surface, "account": self.account,
        }  # fmt: skip
        rows = rows.filter(**{name: value for name, value in exact.items() if value})
        if self.risk:
            rows = rows.filter(risk__gte=RISKS[self.risk][0])
        if self.age:
            rows = rows.filter(since__lte=now - AGES[self.age][0])
        if self.expires:
            rows = rows.expiring_by(now + SOON)
        for word in self.q.split()[:8]:
            # Three times as fast as LIKE, which goes through the text letter by letter.
            rows = rows.filter(GreaterThan(StrIndex("sought", Value(word.lower())), 0))
        return rows
