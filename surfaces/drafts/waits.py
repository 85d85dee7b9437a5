"""End the waits of approved drafts when their cause ends."""

from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce

from surfaces.accounts.models.account import Account
from surfaces.accounts.models.surface import Surface
from surfaces.drafts.models import Draft, DraftState, DraftWait
from surfaces.pauses.models import Pause, PauseScope
from surfaces.settings.models import MOST_UNDO_SECONDS, MOST_WAIT_HOURS
from surfaces.workers.wait_bounds import LONGEST_SERVICE_WAIT, WaitBound, not_later_than_now

ANY = frozenset(DraftWait)
HELD = frozenset({DraftWait.HOLD})
# Which waits a changed fact can end.
ENDS: dict[type, dict[str, frozenset[DraftWait]]] = {
    Account: {
        "cleared": ANY,
        "credential": ANY,
        "state": ANY - {DraftWait.RETRY},  # a retry waits for its time, not for the service
        "mode": HELD,
        "is_on": HELD,
    },
    Surface: {
        "is_on": HELD,
        "limits": frozenset({DraftWait.LIMIT}),
        # The sender asks again whether a request in doubt may be repeated by now.
        "longest_delay_seconds": frozenset({DraftWait.RETRY}),
    },
    Pause: {"resumed": HELD},
}

APPROVED = Q(state=DraftState.APPROVED)
AT_ONCE = Q(waits_for__in=["", DraftWait.HOLD])  # but for the seconds to call it back
BOUNDS = (
    WaitBound(
        model=Draft, column="not_before", when=APPROVED & AT_ONCE,
        longest=timedelta(seconds=MOST_UNDO_SECONDS),
    ),
    WaitBound(
        model=Draft, column="not_before", when=APPROVED & ~AT_ONCE, longest=LONGEST_SERVICE_WAIT
    ),
    WaitBound(
        model=Draft, column="look_at", when=Q(state=DraftState.UNKNOWN),
        longest=LONGEST_SERVICE_WAIT,
    ),
    WaitBound(  # when its request was made at the latest: the end of its sender's lease
        model=Draft, column="unconfirmed_until",
        when=Q(state__in=[DraftState.UNKNOWN, DraftState.APPROVED]), longest=timedelta(hours=1),
    ),
    WaitBound(
        model=Draft, column="expires_at", when=Q(state=DraftState.WAITING),
        longest=timedelta(hours=MOST_WAIT_HOURS),
    ),
)  # fmt: skip


def end_waits(row: object, facts: frozenset[str]) -> int:
    """Make due what waited for these facts, without the reason that no longer holds."""
    ends = ENDS.get(type(row), {})
    causes = frozenset().union(*(ends.get(fact, ()) for fact in facts))
    if not causes:
        return 0
    rows = Draft.objects.filter(_within(row), state=DraftState.APPROVED, waits_for__in=causes)
    # Due since it was approved: what was decided first leaves first.
    since = not_later_than_now(Coalesce("decided_at", "made_at"))
    return rows.update(waits_for="", why="", not_before=since)


def _within(row: object) -> Q:
    """The drafts that a fact of `row` concerns."""
    if isinstance(row, Account):
        return Q(account=row.pk)
    if isinstance(row, Surface):
        return Q(account__in=Account.objects.filter(surface=row.pk))
    if not isinstance(row, Pause):
        raise TypeError(f"no draft waits for {type(row).__name__}")
    if row.scope == PauseScope.AGENT:
        return Q(agent=row.subject)
    if row.scope == PauseScope.ALL:
        return Q()
    named = "name" if row.scope == PauseScope.ACCOUNT else "surface__slug"
    return Q(account__in=Account.objects.filter(**{named: row.subject}))
