"""Start activations: for due notifications, for what an operator asked for, and explorations.

Due notifications are claimed by all free workers of a process at once. Each other claim is one
transaction with the agent's row locked, and asks again whether it may run.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from itertools import zip_longest
from threading import Lock

from django.db import transaction
from django.db.models import F, Max, Q

from dialogue.activations import choosing, requests
from dialogue.activations import services as activation_services
from dialogue.activations.models import Purpose
from dialogue.activations.permissions import obstacle
from dialogue.agents import limits
from dialogue.models import Activation, Agent, Presence
from surfaces.errors import StaleState
from surfaces.text.reasons import reason

AT_ONCE = 25  # agents that are looked at for one claim


class FreeWorkers:
    """Threads of a process that are free at one moment: one of them claims for all.

    While one asks the database the others line up, and the next asks for all who did: an agent
    never waits for a worker that is busy. Each thread has one name, and calls `claim` by it.
    """

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._claimed: dict[str, Activation | None] = {}
        self._asking = Lock()

    def claim(self, worker: str, *, clock: Callable[[], datetime]) -> Activation | None:
        """Lease the most urgent agent for the worker, or None if no agent is left for it.

        The time is that of the statement, not of lining up.
        """
        self._waiting.append(worker)
        with self._asking:
            if worker not in self._claimed:
                # Who lines up in between, or saw a claim fail, finds no answer and asks anew.
                waiting = [*dict.fromkeys([worker, *self._waiting])]
                self._waiting.clear()
                found = activation_services.claim(workers=waiting, now=clock())
                self._claimed |= zip_longest(waiting, found)
            return self._claimed.pop(worker)


def claim_requested(worker: str, purposes: Collection[str], *, now: datetime) -> Activation | None:
    """The next run that an operator asked for; one that cannot be met any more ends."""
    for pk in choosing.asked_for(now=now, limit=AT_ONCE):
        if activation := _start_requested(pk, worker, purposes, now=now):
            return activation
    return None


@transaction.atomic(durable=True)
def _start_requested(
    pk: int, worker: str, purposes: Collection[str], *, now: datetime
) -> Activation | None:
    rows = Presence.objects.filter(pk=pk, run_purpose__in=purposes, run_asked_at__isnull=False)
    rows = rows.select_related("agent__settings", "account__surface")
    presence = rows.select_for_update(of=("self",), skip_locked=True).first()
    if presence is None or not _held([presence.agent_id]):
        return None
    if why := obstacle(presence, now=now):
        requests.drop(presence, why)
        return None
    by = presence.run_asked_by
    facts = {"by": by.rpartition(":")[2], "actor": by}
    try:
        activation = activation_services.start(
            presence, purpose=presence.run_purpose, task=presence.run_task, worker=worker, now=now,
            why=reason(f"activation.requested_{presence.run_purpose}", **facts),
        )  # fmt: skip
    except StaleState:
        return None  # it is awake; the request stays
    requests.clear(presence)
    return activation


def claim_exploration(worker: str, *, now: datetime) -> Activation | None:
    """Let the agent explore that was idle for the longest time."""
    for pk in choosing.exploration_work(now=now, limit=AT_ONCE):
        if activation := _start_exploration(pk, worker, now=now):
            return activation
    return None


@transaction.atomic(durable=True)
def _start_exploration(pk: int, worker: str, *, now: datetime) -> Activation | None:
    if not _held([pk]) or pk not in choosing.exploration_work(now=now, limit=AT_ONCE):
        return None
    explored = Max("activations__started_at", filter=Q(activations__purpose=Purpose.EXPLORE))
    rows = Presence.objects.live().filter(agent=pk).annotate(explored=explored)
    rows = rows.select_related("agent__settings", "account__surface")
    # Of several accounts the one that explored longest ago.
    found = list(rows.order_by(F("explored").asc(nulls_first=True), "pk"))
    presence = next((row for row in found if not obstacle(row, now=now)), None)
    if presence is None or _has_said_enough(presence.agent, now=now):
        Agent.objects.filter(pk=pk).update(last_activated_at=now)  # it is its turn again later
        return None
    try:
        return activation_services.start(
            presence, purpose=Purpose.EXPLORE, why="activation.explores", worker=worker, now=now
        )
    except StaleState:
        return None


def _has_said_enough(agent: Agent, *, now: datetime) -> bool:
    """No comment that it could write would be allowed today."""
    mine = limits.replies_of([agent.slug])
    return limits.said_today(mine, agent, now=now) >= agent.settings.replies_per_day


def _held(agents: Collection[int]) -> bool:
    rows = Agent.objects.filter(pk__in=agents)
    return bool(rows.select_for_update(skip_locked=True, no_key=True).values_list("pk"))
