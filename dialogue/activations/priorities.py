"""Keep what agents are chosen by: `unread`, `due_at`, `priority_at` and `explores_at`.

Triggers keep them (migrations 0005, 0012): the last follows settings and activations, the others
the notifications, and `priority_at` also whether the agent is awake, in the transaction that moves
these. They lock the agents of a statement by their ids, after the notifications. A transaction
that waits for notifications while it holds their agent could wait in a circle with one that came
the other way. So who moves notifications holds their agents first, all at once, by id: `hold`, or
`move`, which does both. (A worker that claims takes rows with SKIP LOCKED, which never waits.)
"""

from collections.abc import Iterable
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from dialogue.inbox.models import NotificationQuerySet
from dialogue.models import Agent

DIFFERING = """
WITH counted AS (
    SELECT agent_id, count(*) AS unread, min(look_at) AS due_at, min(made_at) AS oldest_at
    FROM dialogue_notification WHERE read_at IS NULL GROUP BY agent_id
), wanted AS (
    SELECT a.id, coalesce(c.unread, 0) AS unread, c.due_at,
        CASE WHEN c.due_at IS NOT NULL AND NOT agent_is_awake(a.id)
             THEN c.oldest_at - c.unread * interval '5 minutes' END AS priority_at
    FROM dialogue_agent a LEFT JOIN counted c ON c.agent_id = a.id
)
SELECT a.slug FROM dialogue_agent a JOIN wanted w USING (id)
WHERE (a.unread, a.due_at, a.priority_at)
    IS DISTINCT FROM (w.unread::integer, w.due_at, w.priority_at)
    OR a.explores_at IS DISTINCT FROM agent_explores_at(a.id, a.last_activated_at)
ORDER BY a.slug
"""
EXPLORES = """
UPDATE dialogue_agent SET explores_at = agent_explores_at(id, last_activated_at)
WHERE id = ANY(%s) AND explores_at IS DISTINCT FROM agent_explores_at(id, last_activated_at)
"""


def hold(agents: Iterable[int] | QuerySet[Any], *, skips_locked: bool = False) -> list[int]:
    """Lock agents until the transaction ends, before notifications of theirs are moved."""
    rows = Agent.objects.filter(pk__in=agents).order_by("pk")
    held = rows.select_for_update(no_key=True, skip_locked=skips_locked)
    return list(held.values_list("pk", flat=True))


@transaction.atomic
def move(rows: NotificationQuerySet, **facts: Any) -> int:
    """Update notifications with their agents held; return the number."""
    agents = hold(list(rows.order_by().values_list("agent", flat=True).distinct()))
    return rows.filter(agent__in=agents).update(**facts) if agents else 0


def differing() -> list[str]:
    """Slugs of agents whose columns are not what their notifications say."""
    with connection.cursor() as cursor:
        cursor.execute(DIFFERING)
        return [slug for (slug,) in cursor.fetchall()]


@transaction.atomic
def recount(slugs: Iterable[str]) -> int:
    """Set the columns of these agents anew; return how many were wrong."""
    agents = list(Agent.objects.filter(slug__in=slugs).order_by("pk").values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("SELECT agent_keep_priority(%s)", [agents])
        moved = int(cursor.fetchone()[0])
        cursor.execute(EXPLORES, [agents])
        return max(moved, int(cursor.rowcount))
