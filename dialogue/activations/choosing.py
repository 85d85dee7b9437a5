"""Choose the agents that have work, and the order (activations, 1). Reads only; locks nothing.

    notification   something unread is due; by score = unread + minutes waited / 5
    exploration    not activated for its time; never activated first, then the stalest
    asked for      an operator wants a presence to run now; who asked first, first

The score grows with the clock, but its order stands still: that of oldest unread − 5 min × unread,
which is `Agent.priority_at`, kept by a trigger on notifications. Each answer is one query.

An agent that is out (switched off, paused, elsewhere, backed off, outside its hours, spent) keeps
notifications that are due until they were decided. So that pages say why nothing is answered, a
round considers due notifications of every agent first (`replies.loop`), which moves `look_at`,
and serves those that are chosen here. `is_strict=False` leaves out only who is awake.

A choice is no permission: who claims an agent asks again, with its row locked.
"""

from datetime import datetime, timedelta

from django.db.models import (
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    TimeField,
    Value,
)

from dialogue.activations.models import Activation, Lane
from dialogue.agents.models.agent import AgentLocation
from dialogue.agents.models.settings import Frequency
from dialogue.budgets.conditions import is_spent
from dialogue.models import Agent, Presence
from surfaces.accounts.models.account import AccountState, ReplyMode
from surfaces.models import Pause

MINUTE = timedelta(minutes=1)


def notification_work(*, now: datetime, limit: int, is_strict: bool = True) -> list[int]:
    """Ids of agents with something due, most urgent first."""
    rows = Agent.objects.filter(priority_at__isnull=False, due_at__lte=now)
    rows = rows.filter(~Q(_is_awake("pk")))
    if is_strict:
        rows = _able(rows, now)
    return list(rows.order_by("priority_at", "pk").values_list("pk", flat=True)[:limit])


def exploration_work(*, now: datetime, limit: int) -> list[int]:
    """Ids of agents that explore and were idle for their time, the stalest first."""
    rows = Agent.objects.filter(_is_stale(now), ~Q(_is_awake("pk")), settings__explores=True)
    order = F("last_activated_at").asc(nulls_first=True)
    return list(_able(rows, now).order_by(order, "pk").values_list("pk", flat=True)[:limit])


def asked_for(*, now: datetime, limit: int) -> list[int]:
    """Ids of presences that operators want to run, without those whose agent is awake.

    Nothing else is left out: who may not run is told why, and the request ends.
    """
    rows = Presence.objects.filter(~Q(_is_awake("agent")), run_asked_at__lte=now)
    return list(rows.order_by("run_asked_at", "pk").values_list("pk", flat=True)[:limit])


def _able(rows: QuerySet[Agent], now: datetime) -> QuerySet[Agent]:
    """Those that no lasting rule keeps from working now."""
    is_patient = Q(backs_off_until=None) | Q(backs_off_until__lte=now)
    rows = rows.filter(is_patient, lives=AgentLocation.HERE, settings__is_autonomous=True)
    return rows.filter(_is_open(now), Exists(_places(now))).exclude(is_spent(now))


def _is_awake(agent: str) -> Exists:
    running = Activation.objects.running().filter(lane=Lane.WORK)
    return Exists(running.filter(agent=OuterRef(agent)))


def _is_stale(now: datetime) -> Q:
    at = Value(now, DateTimeField())
    idle = ExpressionWrapper(at - F("settings__stale_minutes") * MINUTE, DateTimeField())
    is_idle = Q(last_activated_at__lte=idle, settings__explore_frequency=Frequency.STALENESS)
    for frequency, time in (
        (Frequency.HOURLY, timedelta(hours=1)), (Frequency.DAILY, timedelta(days=1))
    ):  # fmt: skip
        is_idle |= Q(last_activated_at__lte=now - time, settings__explore_frequency=frequency)
    return Q(last_activated_at=None) | is_idle


def _is_open(now: datetime) -> Q:
    """Within the active hours, as `active_hours.next_opening` has them."""
    local = Func(F("timezone"), Value(now, DateTimeField()), function="agent_local_time",
                 output_field=TimeField())  # fmt: skip
    start, end = F("active_from"), F("active_to")
    begun, is_over = Q(active_from__lte=local), Q(active_to__lte=local)
    by_day = Q(active_from__lt=end) & begun & ~is_over
    by_night = Q(active_from__gt=end) & (begun | ~is_over)
    return Q(active_from=None) | Q(active_to=start) | by_day | by_night


def _places(now: datetime) -> QuerySet[Presence]:
    """Presences of an agent from which it may speak."""
    lasts = Q(account__state_until=None) | Q(account__state_until__gt=now)
    rows = Presence.objects.live().filter(
        agent=OuterRef("pk"), account__is_on=True, account__surface__is_on=True
    )
    rows = rows.exclude(account__mode=ReplyMode.OFF)
    rows = rows.exclude(account__state=AccountState.AUTH_FAILED)
    rows = rows.exclude(lasts, account__state=AccountState.SUSPENDED)
    return rows.filter(~Exists(Pause.objects.over_rows(agent="agent__slug")))
