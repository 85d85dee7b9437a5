"""End the waits of notices when their cause ends: hours, addresses, snoozed items."""

from datetime import timedelta

from django.db.models import F, Q

from surfaces.desk.models import DeskItem
from surfaces.notices import schedule
from surfaces.notices.delivery import LEASE
from surfaces.notices.dispatch import LATER
from surfaces.notices.models.notice import AT_ONCE, Notice, NoticeState
from surfaces.notices.models.rule import NoticeDelivery, NoticeDeliveryState, NoticeRule
from surfaces.notices.recipients import hours_of
from surfaces.operators.models.operator import Operator
from surfaces.workers.wait_bounds import AT_MOST_NOW, WaitBound, not_later_than_now

HOURS = ("pace", "every_hours", "daily_at", "quiet_from", "quiet_to", "urgent_breaks")
ADDRESS = ("url", "secret")
# Which facts can end a wait. All waits of notices are for hours, an address or a snoozed item.
ENDS: dict[type, frozenset[str]] = {
    NoticeRule: frozenset({*HOURS, *ADDRESS}),
    Operator: frozenset({"time_zone"}),
    DeskItem: frozenset({"later_until"}),
}

MADE = not_later_than_now(F("made_at"))
BOUNDS = (
    WaitBound(  # a digest a day, and then quiet hours
        model=Notice, column="due_at", when=Q(state=NoticeState.DUE, delivery=None),
        longest=timedelta(hours=49),
    ),
    WaitBound(
        model=NoticeDelivery, column="due_at", when=Q(state=NoticeDeliveryState.WAITING),
        longest=timedelta(days=1),
    ),
    WaitBound(
        model=NoticeDelivery, column="lease_until", when=Q(state=NoticeDeliveryState.WAITING),
        longest=LEASE,
    ),
    WaitBound(model=NoticeRule, column="last_told_at", longest=AT_MOST_NOW),
)  # fmt: skip


def end_waits(row: object, facts: frozenset[str]) -> None:
    """Make due what waited for these facts."""
    found = facts & ENDS.get(row.__class__, frozenset())  # who is signed in is a proxy
    if isinstance(row, NoticeRule):
        if found & {*HOURS}:
            _reschedule(row)
        if found & {*ADDRESS}:
            waiting = NoticeDelivery.objects.filter(rule=row, state=NoticeDeliveryState.WAITING)
            waiting.filter(lease_until=None).update(due_at=MADE, why="")
    elif isinstance(row, Operator) and found:
        for rule in row.notice_rules.select_related("operator"):
            _reschedule(rule)
    elif isinstance(row, DeskItem) and found:
        snoozed = Notice.objects.filter(desk_item=row.pk, state=NoticeState.DUE, delivery=None)
        snoozed.filter(why__contains={"code": LATER}).update(due_at=MADE, why="")


def _reschedule(rule: NoticeRule) -> None:
    """As if each had been made under the hours of now."""
    hours = hours_of(rule)
    for_hours = Q(why__contains={"code": schedule.QUIET}) | Q(
        why__contains={"code": schedule.DIGEST}
    )
    rows = Notice.objects.filter(for_hours, rule=rule, state=NoticeState.DUE, delivery=None)
    moved = list(rows.only("made_at", "is_urgent"))
    for notice in moved:
        at = schedule.when(notice.made_at, hours, is_urgent=notice.is_urgent)
        notice.due_at, notice.why = at.at, at.why
    Notice.objects.bulk_update(moved, ["due_at", "why"], batch_size=AT_ONCE)
