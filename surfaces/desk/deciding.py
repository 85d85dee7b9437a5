"""Decide on one item or on many: the first decision wins, and everybody is told what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from surfaces.desk import kinds, readers
from surfaces.desk.kinds import Act, Given, Kind
from surfaces.errors import BadInput, IllegalMove, NotAllowed, RuleBroken, StaleState
from surfaces.models import AuditEvent, DeskItem

LATER = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}
MOST_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of an act on one item, in words."""

    key: str
    words: str
    is_done: bool = True
    is_late: bool = False  # somebody else decided before
    act: str = ""
    is_undoable: bool = False
    title: str = ""

    @property
    def named(self) -> tuple[str, int]:
        kind, _, item_id = self.key.rpartition("-")
        return kind, int(item_id)


@dataclass(frozen=True, slots=True)
class Named:
    """An item as a page names it: `draft-12`."""

    kind: Kind
    item_id: int

    @classmethod
    def of(cls, key: str) -> Named:
        name, _, item_id = key.rpartition("-")
        kind = kinds.called(name)
        is_number = item_id.isascii() and item_id.isdigit() and len(item_id) < 19
        if kind is None or not is_number:
            raise BadInput(f"{key[:40]!r} names nothing on the desk.")
        return cls(kind, int(item_id))

    @property
    def key(self) -> str:
        return f"{self.kind.name}-{self.item_id}"

    def waits_as(self) -> str:
        """The kind under which it waits: this one, another one of the same rows, or none."""
        family = [each.name for each in kinds.kinds().values() if each.load is self.kind.load]
        rows = DeskItem.objects.filter(item_id=self.item_id, kind__in=family)
        found = list(rows.values_list("kind", flat=True))
        return self.kind.name if self.kind.name in found else found[0] if found else ""


def decide(named: Named, row: Any, act: Act, given: Given) -> Outcome:
    """Try one act. What somebody else decided before is said instead of done."""
    try:
        with transaction.atomic():
            _one_at_a_time(named)
            words = act.verb(row, given)
    except (StaleState, IllegalMove) as error:
        return _late(named, given, error)
    except NotAllowed as error:
        late = _late(named, given, error)
        return late if late.is_late else _refused(named, error)
    except RuleBroken as error:
        return _refused(named, error)
    readers.close_item(named.kind.name, named.item_id)
    return Outcome(
        key=named.key, words=words, act=act.name, is_undoable=act.undo is not None,
        title=named.kind.title(row),
    )  # fmt: skip


def _one_at_a_time(named: Named) -> None:
    """Of two who decide in one moment the second finds that it does not wait any more.

    A lock of its own, taken before any row's: whoever changes the rows elsewhere takes theirs in
    another order.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [named.key])
    if not named.waits_as():
        raise StaleState("It does not wait any more.")


def _late(named: Named, given: Given, error: RuleBroken) -> Outcome:
    row = named.kind.get(named.item_id)
    said = named.kind.decided(row, given.by, given.now) if row else "It is gone."
    is_late = bool(said) or isinstance(error, (StaleState, IllegalMove))
    return Outcome(key=named.key, words=said or str(error), is_done=False, is_late=is_late)


def _refused(named: Named, error: RuleBroken) -> Outcome:
    return Outcome(key=named.key, words=str(error), is_done=False)


def undo(named: Named, row: Any, act: Act, given: Given) -> Outcome:
    """Take one act back, where the world allows it."""
    if act.undo is None:
        return _refused(named, NotAllowed("This cannot be taken back."))
    try:
        words = act.undo(row, given)
    except RuleBroken as error:
        return _refused(named, error)
    return Outcome(key=named.key, words=words)


def decide_many(keys: Sequence[str], act_name: str, given: Given, allows: Any) -> list[Outcome]:
    """One act on each of many, each in its own transaction; one refusal stops nothing else.

    `allows(row)` says whether the person may touch it at all.
    """
    if not keys:
        raise BadInput("Nothing is selected. Select with X, then act.")
    if len(keys) > MOST_AT_ONCE:
        raise BadInput(f"{len(keys)} are too many at once. Select at most {MOST_AT_ONCE}.")
    return [_one_of_many(key, act_name, given, allows) for key in dict.fromkeys(keys)]


def _one_of_many(key: str, act_name: str, given: Given, allows: Any) -> Outcome:
    try:
        named = Named.of(key)
        act = named.kind.act(act_name)
    except RuleBroken as error:
        return Outcome(key="none-0", words=str(error), is_done=False)
    row = named.kind.get(named.item_id)
    if row is None or not allows(row):
        return _refused(named, NotAllowed("It is gone, or not yours to decide."))
    if not act.in_bulk:
        return _refused(named, NotAllowed("This needs a look at each one alone."))
    stamp = given.posted.get(f"stamp-{key}", "")
    alone = Given(
        by=given.by, now=given.now, delay=given.delay, posted={**given.posted, "stamp": stamp}
    )
    done = decide(named, row, act, alone)
    return done


# ── later ─────────────────────────────────────────────────────────────────


@transaction.atomic
def put_off(named: Named, how_long: str, *, by: str, now: datetime) -> Outcome:
    """Out of sight for a while, for everybody; nothing else changes."""
    length = LATER.get(how_long, LATER["4h"])
    rows = DeskItem.objects.of(named.kind.name, named.item_id).in_sight(now)
    if not rows.update(later_until=now + length, later_by=by):
        return Outcome(
            key=named.key, words="It does not wait any more.", is_done=False, is_late=True
        )
    subject, until = f"{named.kind.name}:{named.item_id}", (now + length).isoformat()
    AuditEvent.objects.record("desk.put_off", actor=by, subject=subject, until=until)
    readers.close_item(named.kind.name, named.item_id)
    hours = int(length.total_seconds() // 3600)
    return Outcome(key=named.key, words=f"Put off for {hours} h.", act="later", is_undoable=True)


@transaction.atomic
def bring_forward(named: Named, *, by: str, now: datetime) -> Outcome:
    rows = DeskItem.objects.of(named.kind.name, named.item_id).put_off(now)
    if not rows.update(later_until=None, later_by=""):
        return _refused(named, NotAllowed("It was not put off, or does not wait any more."))
    subject = f"{named.kind.name}:{named.item_id}"
    AuditEvent.objects.record("desk.brought_forward", actor=by, subject=subject)
    return Outcome(key=named.key, words="It waits on the desk again.")


def summed(outcomes: Sequence[Outcome]) -> Mapping[str, list[Outcome]]:
    """Done first, then what was decided before, then what was refused."""
    return {
        "done": [each for each in outcomes if each.is_done],
        "late": [each for each in outcomes if not each.is_done and each.is_late],
        "refused": [each for each in outcomes if not each.is_done and not each.is_late],
    }
