"""Map agents to accounts for operators with limited access."""

from collections.abc import Iterable

from django.db.models import QuerySet

from dialogue.models import Agent, Presence
from surfaces.operators.scope import UNRESTRICTED, Scope


def accounts_of(slugs: Iterable[str]) -> QuerySet[Presence, int]:
    """Ids of the accounts assigned to these agents. Usable as a subquery."""
    rows = Presence.objects.live().filter(agent__slug__in=list(slugs)).order_by()
    return rows.values_list("account", flat=True)


def agents_within(reach: Scope) -> QuerySet[Agent]:
    """Agents within an operator's limits: named there, or assigned to an account within them."""
    rows = Agent.objects.order_by("slug")
    if reach.agents is not None:
        return rows.filter(slug__in=sorted(reach.agents))
    return rows if reach.accounts is None else rows.filter(slug__in=agents_of(reach.accounts))


def agent_choices(reach: Scope = UNRESTRICTED) -> list[tuple[str, str]]:
    return list(agents_within(reach).values_list("slug", "name"))


def agents_of(accounts: Iterable[int]) -> QuerySet[Presence, str]:
    rows = Presence.objects.live().filter(account__in=list(accounts)).order_by()
    return rows.values_list("agent__slug", flat=True)
