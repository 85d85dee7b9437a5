"""What a limited reach allows beyond single rows: pausing, and which pauses are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.conf import settings
from django.utils.module_loading import import_string

from surfaces.models import Account, Pause, Surface
from surfaces.models.pause import Scope
from surfaces.reach import Reach

ALL = "Your view is limited, so you may pause what is within it, not everything. Ask a moderator."
PARTLY = "Part of {subject} is outside your limits. Pause single accounts of it instead."


def accounts_of(agents: Iterable[str]) -> frozenset[int]:
    """Through which accounts these agents may speak; the floor above knows."""
    return frozenset(import_string(settings.ACCOUNTS_OF_AGENTS)(agents))


def agents_within(reach: Reach) -> frozenset[str] | None:
    """Named in the limits; where only surfaces are, those that speak there. One query at most."""
    if reach.agents is not None or reach.accounts is None:
        return reach.agents
    return frozenset(import_string(settings.AGENTS_OF_ACCOUNTS)(reach.accounts))


def sees_agent(reach: Reach, slug: str) -> bool:
    agents = agents_within(reach)
    return agents is None or slug in agents


def may_see(reach: Reach, scope: str, subject: str) -> bool:
    """Whether anything that this pause is about is within reach. One query at most."""
    if reach.accounts is None or scope == Scope.ALL:
        return True
    if scope == Scope.AGENT:
        return sees_agent(reach, subject)
    rows = reach.narrow(Account.objects.all(), account="pk", agent="")
    named = {"surface__slug": subject} if scope == Scope.SURFACE else {"name": subject}
    return rows.filter(**named).exists()


def refusal(reach: Reach, scope: str, subject: str) -> str:
    """Why somebody with this reach may not pause or resume it; "" if they may."""
    if reach.accounts is None:
        return ""
    if scope == Scope.ALL:
        return ALL
    reached = (
        frozenset(Account.objects.filter(surface__slug=subject).values_list("pk", flat=True))
        if scope == Scope.SURFACE
        else accounts_of([subject]) if scope == Scope.AGENT else reach.accounts
    )  # fmt: skip
    return "" if reached <= reach.accounts else PARTLY.format(subject=subject)


def pauses_within(
    reach: Reach, pauses: Sequence[Pause], accounts: Callable[[], Iterable[Account]]
) -> list[Pause]:
    """Those that hold up something within reach.

    `accounts` gives the ones within, with their surfaces; asked only where something narrower
    than everything is paused. One query where an agent is and only surfaces are limited.
    """
    if reach.accounts is None or all(pause.scope == Scope.ALL for pause in pauses):
        return list(pauses)
    seen = {f"{Scope.ALL}:"}
    for account in accounts():
        seen |= {f"account:{account.name}", f"surface:{account.surface.slug}"}
    if any(pause.scope == Scope.AGENT for pause in pauses):
        seen |= {f"agent:{slug}" for slug in agents_within(reach) or ()}
    return [pause for pause in pauses if f"{pause.scope}:{pause.subject}" in seen]


def names_within(reach: Reach) -> set[str]:
    """Accounts, surfaces and agents as the ledger names them: by number, and as pauses do.

    "account:3", "account:iris@hub", "surface:1", "surface:hub", "agent:iris". Two queries.
    """
    rows = reach.narrow(Account.objects.all(), account="pk", agent="").order_by()
    found = {f"agent:{slug}" for slug in agents_within(reach) or ()}
    for pk, name, place, slug in rows.values_list("pk", "name", "surface", "surface__slug"):
        found |= {f"account:{pk}", f"account:{name}", f"surface:{place}", f"surface:{slug}"}
    return found


def surfaces_within(reach: Reach) -> frozenset[int] | None:
    """Surfaces with an account within reach; None is all of them. One query."""
    if reach.accounts is None:
        return None
    rows = Surface.objects.filter(accounts__in=sorted(reach.accounts)).order_by()
    return frozenset(rows.values_list("pk", flat=True))
