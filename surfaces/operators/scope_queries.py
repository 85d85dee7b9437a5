"""What a limited reach allows beyond single rows: pausing, and which pauses are told."""

from collections.abc import Iterable

from django.db.models import Q

from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import AuditEvent, AuditQuerySet, name_of
from surfaces.extension_points import agent_scope
from surfaces.operators.models.operator import Operator
from surfaces.operators.scope import Scope

PRIVATE = frozenset({"patterns"})  # facts that quote what was said through some account


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


def hide_private_facts(events: Iterable[AuditEvent], who: Operator) -> None:
    """In these rows hide what quotes accounts out of reach of agents that speak there, too.

    Two queries at most, none where nothing is quoted.
    """
    accounts = who.reach.accounts
    quoting = [event for event in events if event.agent and not PRIVATE.isdisjoint(event.facts)]
    if accounts is None or not quoting:
        return
    elsewhere = accounts_of({event.agent for event in quoting}) - accounts
    shared = set(agent_scope().agents_of(elsewhere)) if elsewhere else set()
    for event in quoting:
        if event.account_id is None and event.agent in shared and event.actor != who.actor:
            event.facts |= dict.fromkeys(PRIVATE & event.facts.keys(), "…")


def surfaces_within(reach: Scope) -> frozenset[int] | None:
    """Surfaces with an account within reach; None is all of them. One query."""
    if reach.accounts is None:
        return None
    rows = Surface.objects.filter(accounts__in=sorted(reach.accounts)).order_by()
    return frozenset(rows.values_list("pk", flat=True))
