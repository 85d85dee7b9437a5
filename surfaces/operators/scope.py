"""Scope: the accounts and agents that an operator or key may see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

Kind = TypeVar("Kind")
Rows = TypeVar("Rows", bound="QuerySet[Any]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """None is every one of them. What was written by hand belongs to no agent."""

    accounts: frozenset[int] | None = None
    agents: frozenset[str] | None = None

    @property
    def is_whole(self) -> bool:
        return self.accounts is None and self.agents is None

    def __and__(self, other: Scope) -> Scope:
        accounts, agents = both(self.accounts, other.accounts), both(self.agents, other.agents)
        return Scope(accounts=accounts, agents=agents)

    def narrow(self, rows: Rows, *, account: str = "account", agent: str = "agent") -> Rows:
        """Only the rows within reach. "" for a name: rows of this kind have no such column."""
        if self.accounts is not None and account:
            rows = rows.filter(Q(**{f"{account}__in": sorted(self.accounts)}))
        if self.agents is not None and agent:
            rows = rows.filter(Q(**{f"{agent}__in": ["", *sorted(self.agents)]}))
        return rows

    def allows(self, account_id: int | None, agent: str = "") -> bool:
        """Whether one row is within reach; None for what stands on no account."""
        is_here = self.accounts is None or account_id is None or account_id in self.accounts
        return is_here and (self.agents is None or not agent or agent in self.agents)


def both(one: frozenset[Kind] | None, other: frozenset[Kind] | None) -> frozenset[Kind] | None:
    """What two limits have in common; None is no limit."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def limit_of(is_limited: bool, chosen: Iterable[Kind]) -> frozenset[Kind] | None:
    """What a limit allows; None is everything. One whose objects were deleted allows nothing."""
    allowed = frozenset(chosen)
    return allowed if is_limited or allowed else None


UNRESTRICTED = Scope()
