"""Choose the agents that have work, and the order (activations, 1).

    notification   something unread is due; by score = unread + minutes waited / 5
    exploration    not activated for its time; never activated first, then the stalest
    asked for      an operator wants a presence to run now; who asked first, first

The score grows with the clock, but its order stands still: that of oldest unread − 5 min × unread,
which is `Agent.priority_at`. It and `explores_at` are kept by triggers (migrations 0005, 0012).
Each answer is one query that walks an index until it has enough.

An agent that is out (switched off, paused, elsewhere, backed off, outside its hours, spent) keeps
notifications that are due until they were decided. Agents that may work are served first; then
the notifications of the others are decided (`replies.loop`), so that pages say why nothing is
answered. `is_strict=False` leaves out only who is awake.

`take` locks the agents it chooses. Any other choice is no permission: who claims an agent asks
again, with its row locked.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection
from psycopg.types.json import Jsonb

from dialogue.activations.models import Activation
from dialogue.budgets import conditions as budget_conditions
from surfaces.pauses.models import Pause
from surfaces.text.reasons import StoredReason

# An activation in the lane of work. One that waits for approvals leaves its agent free.
AWAKE = """EXISTS (SELECT FROM dialogue_activation w
    WHERE w.agent_id = {agent} AND w.lane = 'work' AND w.state = 'running' OFFSET 0)"""
# As `active_hours.next_opening` has it.
OPEN = """(a.active_from IS NULL OR a.active_from = a.active_to
    OR CASE WHEN a.active_from < a.active_to
       THEN agent_local_time(a.timezone, %(now)s) >= a.active_from
            AND agent_local_time(a.timezone, %(now)s) < a.active_to
       ELSE agent_local_time(a.timezone, %(now)s) >= a.active_from
            OR agent_local_time(a.timezone, %(now)s) < a.active_to END)"""
PAUSED = Pause.objects.sql_over(surface="f.slug", account="c.name", agent="a.slug")
# A live presence on an account from which it may speak. OFFSET 0: asked agent by agent, in the
# order of the index, until there are enough; never of all agents first.
PLACE = f"""EXISTS (SELECT FROM dialogue_presence p
    JOIN surfaces_account c ON c.id = p.account_id JOIN surfaces_surface f ON f.id = c.surface_id
    WHERE p.agent_id = a.id AND p.ended_at IS NULL AND c.is_on AND f.is_on AND c.mode <> 'off'
        AND c.state <> 'auth_failed' AND NOT (c.state = 'suspended'
            AND (c.state_until IS NULL OR c.state_until > %(now)s))
        AND NOT EXISTS ({PAUSED}) OFFSET 0)"""
# No lasting rule keeps it from working now.
ABLE = f"""a.lives = 'here' AND (a.backs_off_until IS NULL OR a.backs_off_until <= %(now)s)
    AND s.is_autonomous AND {OPEN} AND {PLACE} AND NOT {budget_conditions.SPENT}"""
CHOOSE = """
SELECT a.id FROM dialogue_agent a JOIN dialogue_agentsettings s ON s.agent_id = a.id
WHERE {work} AND {able}
ORDER BY {order} LIMIT %(limit)s
"""
# Who is awake has no `priority_at`.
DUE = {
    "work": "a.priority_at IS NOT NULL AND a.due_at <= %(now)s", "order": "a.priority_at, a.id"
}  # fmt: skip
NOTIFICATION = {True: CHOOSE.format(**DUE, able=ABLE), False: CHOOSE.format(**DUE, able="true")}
CLAIM = f"""
WITH chosen AS ({NOTIFICATION[True]} FOR NO KEY UPDATE OF a SKIP LOCKED),
taken AS (
    UPDATE dialogue_agent t SET claims = t.claims + 1, priority_at = NULL
    FROM chosen WHERE t.id = chosen.id
    RETURNING t.id, t.claims, (SELECT n.presence_id FROM dialogue_notification n
        WHERE n.agent_id = t.id AND n.read_at IS NULL AND n.look_at <= %(now)s
        ORDER BY n.look_at, n.id LIMIT 1) AS presence_id
)
INSERT INTO dialogue_activation (agent_id, presence_id, number, worker, lease_until, started_at,
    why, purpose, lane, state, task, outcome, voice, stop_asked_by, cost, cost_is_guess,
    tokens_in, tokens_out, requests, calls, worked_ms, notifications, posts)
SELECT id, presence_id, claims, (%(workers)s::text[])[row_number() OVER ()], %(lease_until)s,
    %(now)s, %(why)s, 'reply', 'work', 'running', '', '{{}}', '', '', 0, false, 0, 0, 0, 0, 0, 0, 0
FROM taken RETURNING *
"""  # noqa: S608 - our own text
EXPLORATION = CHOOSE.format(
    work=f"""a.explores_at IS NOT NULL AND a.explores_at <= %(now)s
        AND NOT {AWAKE.format(agent="a.id")}""",
    able=ABLE, order="a.last_activated_at NULLS FIRST, a.id",
)  # fmt: skip
ASKED = f"""
SELECT p.id FROM dialogue_presence p
WHERE p.run_asked_at IS NOT NULL AND NOT {AWAKE.format(agent="p.agent_id")}
ORDER BY p.run_asked_at, p.id LIMIT %(limit)s
"""  # noqa: S608 - our own text


def notification_work(*, now: datetime, limit: int, is_strict: bool = True) -> list[int]:
    """Ids of agents with something due, most urgent first."""
    return _ids(NOTIFICATION[is_strict], now, limit)


def claim(
    *, workers: Sequence[str], why: StoredReason, lease_until: datetime, now: datetime
) -> list[Activation]:
    """Start activations of the most urgent agents that nobody holds, one for each worker.

    Each names the presence whose notification is due first. Fewer, if fewer agents have work.
    """
    given = {"workers": list(workers), "why": Jsonb(why), "lease_until": lease_until}
    given |= budget_conditions.values(now) | {"now": now, "limit": len(workers)}
    return list(Activation.objects.raw(CLAIM, given))


def exploration_work(*, now: datetime, limit: int) -> list[int]:
    """Ids of agents that explore and were idle for their time, the stalest first."""
    return _ids(EXPLORATION, now, limit)


def asked_for(*, now: datetime, limit: int) -> list[int]:
    """Ids of presences that operators want to run, without those whose agent is awake.

    Nothing else is left out: who may not run is told why, and the request ends.
    """
    return _ids(ASKED, now, limit)


def _ids(sql: str, now: datetime, limit: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, budget_conditions.values(now) | {"now": now, "limit": limit})
        return [pk for (pk,) in cursor.fetchall()]
