"""What somebody wants to see of the desk, read from a query string and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from surfaces.desk.kinds import kinds
from surfaces.models import DeskItem
from surfaces.models.desk import DeskItemQuerySet, Risk

LONGEST = 120
SOON = timedelta(hours=1)
ORDERS = {"expiry": _("Expiry, then oldest"), "risk": _("Risk first"), "newest": _("Newest")}
RISKS = {"high": (Risk.HIGH, _("High")), "some": (Risk.SOME, _("Some or high"))}
AGES = {
    "1h": (timedelta(hours=1), _("Over 1 h")),
    "4h": (timedelta(hours=4), _("Over 4 h")),
    "1d": (timedelta(days=1), _("Over 1 d")),
    "7d": (timedelta(days=7), _("Over 7 d")),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Filters and order. What could not be understood is left out."""

    kind: str = ""
    agent: str = ""
    surface: str = ""  # a slug
    account: str = ""  # an id, in digits
    risk: str = ""
    age: str = ""
    expires: str = ""  # "1h"
    later: str = ""  # "1": what was put off
    q: str = ""
    order: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Asked:
        """Read a query string's values."""
        allowed: dict[str, Collection[str]] = {
            "kind": kinds(), "risk": RISKS, "age": AGES, "expires": ["1h"], "later": ["1"],
            "order": ORDERS,
        }  # fmt: skip
        found = {}
        for each in fields(cls):
            value = str(given.get(each.name, "")).replace("\0", "").strip()[:LONGEST]
            if each.name in allowed and value not in allowed[each.name]:
                value = ""
            if each.name == "account" and not (value.isascii() and value.isdigit()):
                value = ""
            found[each.name] = value[:18] if each.name == "account" else value
        return cls(**found)

    def query(self) -> dict[str, str]:
        """Only what says something, in a fixed order: one view, one address."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value}

    @property
    def is_everything(self) -> bool:
        return not set(self.query()) - {"order"}

    def of_rows(self, rows: DeskItemQuerySet, now: datetime) -> DeskItemQuerySet:
        """Narrow `rows` to what is asked for."""
        rows = rows.put_off(now) if self.later else rows.in_sight(now)
        rows = rows.filter(**self._exactly())
        if self.risk:
            rows = rows.filter(risk__gte=RISKS[self.risk][0])
        if self.age:
            rows = rows.filter(since__lte=now - AGES[self.age][0])
        if self.expires:
            rows = rows.expiring_by(now + SOON)
        for word in self.q.split()[:8]:
            rows = rows.filter(Q(words__icontains=word) | Q(author__icontains=word))
        return rows

    def _exactly(self) -> dict[str, str | list[str]]:
        exact: dict[str, str | list[str]] = {"kind__in": [self.kind] if self.kind else [*kinds()]}
        if self.agent:
            exact["agent"] = self.agent
        if self.surface:
            exact["account__surface__slug"] = self.surface
        if self.account:
            exact["account"] = self.account
        return exact


EVERYTHING = Asked()


def rows_of(asked: Asked, now: datetime) -> DeskItemQuerySet:
    return asked.of_rows(DeskItem.objects.all(), now)
