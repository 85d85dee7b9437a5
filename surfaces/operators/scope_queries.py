"""What a limited reach allows beyond single rows: pausing, and which pauses are told."""

from collections.abc import Iterable

from django.db.models import Q

from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditQuerySet, name_of
from surfaces.extension_points import agent_scope
from surfaces.operators.models.operator import Operator
from surfaces.operators.scope import Scope


def accounts_of(agents: Iterable[str]) -> frozenset[int]:
    return frozenset(agent_scope().accounts_of(agents))


def agents_within(reach: Scope) -> frozenset[str] | None:
    """Named in the limits; where only surfaces are, those that speak there. One query at most."""
    if reach.agents is not None or reach.accounts is None:
        return reach.agents
    return frozenset(agent_scope().agents_of(reach.accounts))


def sees_agent(reach: Scope, slug: str) -> bool:
    agents = agents_within(reach)
    return agents is None or slug in agents


def visible_events(events: AuditQuerySet, who: Operator) -> AuditQuerySet:
    """Those about rows within the limits of `who`, and by or about `who`. One query at most.
    An event with an agent and no account is about the agent itself.
    """
    accounts = who.accounts_seen
    if accounts is None or who.reach.is_whole:
        return events
    named = {f"surface:{key}" for each in accounts for key in (each.surface_id, each.surface.slug)}
    slugs = who.reach.agents
    theirs = Q() if slugs is None else Q(agent__in=["", *sorted(slugs)])
    return events.filter(
        Q(account__in=[account.pk for account in accounts]) & theirs
        | Q(account=None, agent__in=sorted(agents_within(who.reach) or ()))
        | Q(subject__in=[*sorted(named), name_of(who)])
        | Q(actor=who.actor)
    )


def surfaces_within(reach: Scope) -> frozenset[int] | None:
    """Surfaces with an account within reach; None is all of them. One query."""
    if reach.accounts is None:
        return None
    rows = Surface.objects.filter(accounts__in=sorted(reach.accounts)).order_by()
    return frozenset(rows.values_list("pk", flat=True))
