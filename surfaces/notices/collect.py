"""Create notices for new events. Idempotent by a constraint."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import CharField, Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Cast, Concat, Left

from surfaces.desk.models import DeskItem
from surfaces.notices import matching, outages, sign_ins, system_events
from surfaces.notices.matching import NoticeEvent
from surfaces.notices.models.notice import AT_ONCE, Notice, NoticeCursor, NoticeReason
from surfaces.notices.models.rule import NoticeRule
from surfaces.notices.recipients import Recipient
from surfaces.operators.models.operator import Operator
from surfaces.workers.table_cursor import TableCursor

MOST_MADE = 20_000  # notices in one round: it must end before its task is taken for dead
ITEM = (
    "id", "kind", "item_id", "account", "surface", "agent", "since", "expires_at", "risk",
    "author", "beginning",
)  # fmt: skip
Row = dict[str, Any]


def settle_in(now: datetime) -> int:
    """Who has no rule begins with one that disturbs nobody: expiry, outages, the house, here."""
    newcomers = Operator.objects.filter(is_active=True, notice_rules=None)
    rules = [NoticeRule(operator=person, since=now) for person in newcomers]
    return len(NoticeRule.objects.bulk_create(rules))


def collect(hearers: Sequence[Recipient], now: datetime) -> None:
    new_items(hearers, now)
    expiring(hearers, now)
    outages.begun(hearers, now)
    outages.over(hearers, now)
    system_events.paused(hearers, now)
    system_events.extension_events(hearers, now)
    sign_ins.sign_ins(hearers, now)


@transaction.atomic
def new_items(hearers: Sequence[Recipient], now: datetime) -> None:
    """Read the desk from the mark on. Of two readers at once, one does it."""
    NoticeCursor.objects.bulk_create([NoticeCursor(pk=1)], ignore_conflicts=True)
    mark = NoticeCursor.objects.select_for_update(skip_locked=True).filter(pk=1).first()
    if mark is None:
        return
    # Unlike the inbox's cursor (decision 15), without an overlap: the desk's ids are taken by
    # triggers, so their transaction has written already, and has its number.
    reading = TableCursor.of(mark, "desk_items")
    if reading.is_still:
        return
    if listening := [hearer for hearer in hearers if hearer.wish.hears_items]:
        rows, made = _items(DeskItem.objects.arrived_after(mark.through)), 0
        while made < MOST_MADE and (some := list(islice(rows, AT_ONCE))):
            notices = list(_waiting(listening, some, now))
            Notice.objects.keep(notices)
            made += len(notices)
            if made >= MOST_MADE:  # a flood goes on in the next round
                reading.top = int(some[-1]["id"])
    if reading.advance():
        mark.save()  # locked, and nobody else's


def _items(found: QuerySet[DeskItem]) -> Iterator[Row]:
    rows = found.annotate(surface=F("account__surface"), beginning=Left("words", 1_000))
    yield from rows.order_by("id").values(*ITEM).iterator(AT_ONCE)


def _waiting(hearers: Sequence[Recipient], rows: Sequence[Row], now: datetime) -> Iterator[Notice]:
    """A row is read again until its id is certain: then it is known already."""
    found = Notice.objects.filter(
        operator__in={hearer.rule.operator_id for hearer in hearers},
        way__in={hearer.rule.way for hearer in hearers},
        subject__in=[f"item:{row['id']}" for row in rows],
        reason=NoticeReason.WAITS,
    )
    known = set(found.order_by().values_list("operator", "way", "subject"))
    for row in rows:
        thing, subject = event_of(row), f"item:{row['id']}"
        for hearer in hearers:
            is_known = (hearer.rule.operator_id, hearer.rule.way, subject) in known
            if not is_known and matching.wants_item(hearer.wish, hearer.reach, thing):
                yield _of_item(hearer, NoticeReason.WAITS, row, now)


def expiring(hearers: Sequence[Recipient], now: datetime) -> None:
    for hearer in hearers:
        if not hearer.rule.hears_expiring:
            continue
        soon = now + timedelta(minutes=hearer.rule.expires_minutes)
        told = Notice.objects.filter(
            operator=hearer.rule.operator_id,
            way=hearer.rule.way,
            reason=NoticeReason.EXPIRES,
            subject=Concat(Value("item:"), Cast(OuterRef("pk"), CharField())),
        )
        found = DeskItem.objects.expiring_by(soon).filter(~Exists(told), expires_at__gt=now)
        Notice.objects.keep(
            _of_item(hearer, NoticeReason.EXPIRES, row, now)
            for row in _items(found)
            if matching.fits_item(hearer.wish, hearer.reach, event_of(row))
        )


def event_of(row: Row) -> NoticeEvent:
    same = {name: row[name] for name in ("account", "surface", "agent", "kind", "risk")}
    return NoticeEvent(**same, desk_item=row["id"])


def _of_item(hearer: Recipient, reason: NoticeReason, row: Row, now: datetime) -> Notice:
    expires = reason == NoticeReason.EXPIRES
    return hearer.notice(
        reason,
        f"item:{row['id']}",
        now=now,
        moment=row["expires_at"] if expires else row["since"],
        is_urgent=expires or matching.is_urgent(row["risk"]),
        words=row["beginning"],
        author=row["author"],
        desk_item=row["id"],
        kind=row["kind"],
        item_id=row["item_id"],
        account_id=row["account"],
        agent=row["agent"],
    )
