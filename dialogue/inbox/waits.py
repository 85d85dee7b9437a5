"""End the waits of notifications when their cause ends."""

from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from dialogue.inbox.models import Notification, NotificationOutcome
from dialogue.models import Agent, Presence, Reservation, SharedBudget
from dialogue.replies.decision import Reason
from surfaces.messages import reply_state
from surfaces.models import Account, Draft, Message, Pause, Surface
from surfaces.pauses.models import PauseScope
from surfaces.workers.wait_bounds import WaitBound, not_later_than_now

BUDGET = ("money_per_day", "money_per_month", "tokens_per_day", "tokens_per_month")
COST = (*BUDGET, "voice", "output_tokens", "price_in", "price_out")
# Which decisions a changed fact can end. What is not named here, no notification waits for.
ENDS: dict[type, dict[str, set[Reason]]] = {
    Agent: {
        "is_autonomous": {Reason.SWITCHED_OFF},
        "mode": {Reason.MODE_OFF},
        "lives": {Reason.ELSEWHERE},
        "active_from": {Reason.HOURS},
        "active_to": {Reason.HOURS},
        "timezone": {Reason.HOURS, Reason.DAY_FULL},
        "replies_per_day": {Reason.DAY_FULL},
        "replies_per_thread": {Reason.THREAD_FULL},
        "spacing_seconds": {Reason.TOO_SOON},
        "oldest_days": {Reason.TOO_OLD},
        "responds_to_mentions": {Reason.NOT_WANTED},
        "responds_to_replies": {Reason.NOT_WANTED},
        "responds_to_dms": {Reason.NOT_WANTED},
        **{name: {Reason.SPENT} for name in COST},
        "back_off": {Reason.BACKED_OFF, Reason.BETWEEN_TRIES},
    },
    Presence: {
        "mode": {Reason.MODE_OFF},
        "began": {Reason.MODE_OFF, Reason.PAUSED, Reason.ACCOUNT_OFF},
    },
    Account: {
        "mode": {Reason.MODE_OFF},
        "is_on": {Reason.ACCOUNT_OFF},
        "state": {Reason.ACCOUNT_OFF},
    },
    Surface: {"is_on": {Reason.ACCOUNT_OFF}},
    Pause: {"resumed": {Reason.PAUSED}},
    SharedBudget: {name: {Reason.SPENT} for name in BUDGET},
    # One that was not sent gives its place back.
    Draft: {"ended": {Reason.DAY_FULL, Reason.THREAD_FULL, Reason.TOO_SOON}},
    Reservation: {"settled": {Reason.SPENT}},
    # It, or its thread, is on the service after all.
    Message: {"deleted_at": {Reason.DELETED, Reason.THREAD_GONE}},
}
# Passed, and decided again if the fact moves.
PASSED = {
    Reason.THREAD_FULL, Reason.TOO_OLD, Reason.DELETED, Reason.THREAD_GONE, Reason.NOT_WANTED,
}  # fmt: skip
CHANGED = "decision.due_again"

AT_ONCE = 5_000  # rows in one statement
UNREAD = Q(read_at=None)
FOR_MONEY = Q(verdict=Reason.SPENT.code)
DECIDED_AGAIN = {"verdict": "", "why": CHANGED}
BOUNDS = (
    WaitBound(
        model=Notification, column="not_before", when=UNREAD, longest=timedelta(days=1)
    ),
    WaitBound(
        model=Notification, column="look_at", when=UNREAD & ~FOR_MONEY,
        longest=timedelta(hours=25), clears=DECIDED_AGAIN,  # a day with a change of the clocks
    ),
    WaitBound(
        model=Notification, column="look_at", when=UNREAD & FOR_MONEY,
        longest=timedelta(days=32), clears=DECIDED_AGAIN,
    ),
)  # fmt: skip


def end_waits(row: Any, facts: frozenset[str]) -> None:
    """Make due what waited for these facts, without the reason that no longer holds."""
    ends = ENDS.get(type(row), {})
    reasons: set[Reason] = set().union(*(ends.get(fact, ()) for fact in facts))
    if not reasons or (isinstance(row, Draft) and not row.agent):
        return
    rows = _within(row)
    codes = [why.code for why in reasons - PASSED]
    waiting = Q(read_at=None, draft=None, verdict__in=codes)
    passed = [why.code for why in reasons & PASSED]
    over = Q(outcome=NotificationOutcome.PASSED, verdict__in=passed)
    found = rows.filter(waiting | over if passed else waiting)
    if isinstance(row, Reservation):  # what came free is enough for few
        found = found.order_by("agent_id", "look_at", "pk").distinct("agent_id")
    _release(found, forgets_attempts="back_off" in facts)


def _within(row: Any) -> QuerySet[Notification]:
    """Notifications that a fact of `row` concerns."""
    agents = Agent.objects.all()
    if isinstance(row, Draft | Message | SharedBudget):
        # The replier holds an agent's row while it decides: a decision by the old facts is seen
        # here, or it is made by the new ones.
        named = agents.filter(slug=row.agent) if isinstance(row, Draft) else agents
        if isinstance(row, Message):
            named = agents.filter(pk__in=Presence.objects.filter(_concerned(row)).values("agent"))
        list(named.order_by("pk").select_for_update(no_key=True))
    presences = Presence.objects.filter(_concerned(row))
    found = Notification.objects.filter(presence__in=presences)
    if isinstance(row, Message):
        found = found.filter(Q(message=row.pk) | Q(message__post=row.pk))
    if isinstance(row, Draft) and row.target:
        elsewhere = Q(verdict=Reason.THREAD_FULL.code) & ~Q(message__post=row.target.post_id)
        found = found.exclude(elsewhere)
    return found


def _concerned(row: Any) -> Q:
    """The presences among them."""
    if isinstance(row, Agent):
        return Q(agent=row)
    if isinstance(row, Presence):
        return Q(pk=row.pk)
    if isinstance(row, Account):
        return Q(account=row)
    if isinstance(row, Message):
        return Q(account=row.account_id)
    if isinstance(row, Surface):
        return Q(account__surface=row)
    if isinstance(row, Draft):
        return Q(agent__slug=row.agent)
    if isinstance(row, Pause) and row.scope != PauseScope.ALL:
        named = {
            PauseScope.SURFACE: "account__surface__slug",
            PauseScope.ACCOUNT: "account__name",
            PauseScope.AGENT: "agent__slug",
        }
        return Q(**{named[PauseScope(row.scope)]: row.subject})
    return Q()


def _release(found: QuerySet[Notification], *, forgets_attempts: bool) -> None:
    facts: dict[str, Any] = {"not_before": None} if forgets_attempts else {}
    # Due since it was considered last: what waits longest comes first.
    since = not_later_than_now(Coalesce("considered_at", "made_at"))
    pairs = list(found.values_list("pk", "message"))
    for start in range(0, len(pairs), AT_ONCE):
        rows, messages = zip(*pairs[start : start + AT_ONCE], strict=True)
        # Unless it was answered, or a draft written, in the meantime.
        still = Notification.objects.filter(pk__in=rows, draft=None)
        still.exclude(outcome=NotificationOutcome.ANSWERED).update(
            look_at=since, verdict="", why=CHANGED, read_at=None, outcome="", **facts
        )
        reply_state.note_reason(Message.objects.filter(pk__in=filter(None, messages)), CHANGED)
