"""Apply actions to one or many items. The first decision wins; later ones are told of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import AuditEvent
from surfaces.desk import kinds, viewers
from surfaces.desk.kinds import Action, ActionInput, DeskKind
from surfaces.desk.models import DeskItem
from surfaces.errors import BadInput, FoundOver, IllegalMove, NotAllowed, RuleBroken, StaleState
from surfaces.extension_points import end_waits
from surfaces.web.requests import parse_id

LATER = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}
MOST_AT_ONCE = 200
NOTHING_SELECTED = _lazy("Nothing is selected. Press X to select items, then choose an action.")


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionOutcome:
    key: str
    words: str
    is_done: bool = True
    is_late: bool = False  # somebody else decided before
    act: str = ""
    undo_window: timedelta = timedelta()  # zero if it cannot be undone
    title: str = ""


@dataclass(frozen=True, slots=True)
class ItemRef:
    """An item as a page names it: `draft-12`."""

    kind: DeskKind
    item_id: int

    @classmethod
    def of(cls, key: str) -> Self:
        name, _, item_id = key.rpartition("-")
        kind, number = kinds.called(name), parse_id(item_id)
        if kind is None or number is None:
            raise BadInput(_lazy("There is no such item on the desk."))
        return cls(kind, number)

    @property
    def key(self) -> str:
        return f"{self.kind.name}-{self.item_id}"

    def as_it_waits(self) -> "ItemRef":
        """The same row under the kind it waits as; one that does not wait keeps its kind."""
        return ItemRef(kinds.called(self.waits_as()) or self.kind, self.item_id)

    def waits_as(self) -> str:
        family = [each.name for each in kinds.kinds().values() if each.load is self.kind.load]
        rows = DeskItem.objects.filter(item_id=self.item_id, kind__in=family)
        found = list(rows.values_list("kind", flat=True))
        return self.kind.name if self.kind.name in found else found[0] if found else ""


def decide(named: ItemRef, row: Any, act: Action, given: ActionInput) -> DecisionOutcome:
    try:
        with transaction.atomic():
            _one_at_a_time(named)
            if act.by_stamp:
                _check_stamp(named, given)
            words, over = _applied(act, row, given)
        if over:
            raise over
    except (StaleState, IllegalMove) as error:
        return _late(named, given, error)
    except NotAllowed as error:
        late = _late(named, given, error)
        return late if late.is_late else _refused(named, error)
    except RuleBroken as error:
        return _refused(named, error)
    viewers.close_item(named.kind.name, named.item_id)
    return DecisionOutcome(
        key=named.key, words=words, act=act.name, undo_window=act.undo_window(given),
        title=named.kind.title(row),
    )  # fmt: skip


def _applied(act: Action, row: Any, given: ActionInput) -> tuple[str, FoundOver | None]:
    """Words about what was done; or that the row ended in the attempt, which must be committed."""
    try:
        return act.verb(row, given), None
    except FoundOver as error:
        return "", error


def _one_at_a_time(named: ItemRef) -> None:
    """Serialise decisions: the second of two finds that the item no longer waits.

    An advisory lock taken before row locks, because other code locks rows in another order.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [named.key])
    if not named.waits_as():
        raise StaleState(_lazy("This item no longer needs a decision."))


def _check_stamp(named: ItemRef, given: ActionInput) -> None:
    shown = given.typed("stamp")
    if not shown:
        return
    if named.kind.lock:
        named.kind.lock(named.item_id)
    if getattr(named.kind.get(named.item_id), "stamp", "") != shown:
        raise StaleState(_lazy("It changed after you opened it. Check it again."))


def _late(named: ItemRef, given: ActionInput, error: RuleBroken) -> DecisionOutcome:
    row = named.kind.get(named.item_id)
    said = named.kind.decided(row, given.by, given.now) if row else _("It no longer exists.")
    is_late = bool(said) or isinstance(error, (StaleState, IllegalMove))
    return DecisionOutcome(key=named.key, words=said or str(error), is_done=False, is_late=is_late)


def _refused(named: ItemRef, why: object) -> DecisionOutcome:
    return DecisionOutcome(key=named.key, words=str(why), is_done=False)


def undo(named: ItemRef, row: Any, act: Action, given: ActionInput) -> DecisionOutcome:
    if act.undo is None:
        return _refused(named, _("This cannot be undone."))
    try:
        words = act.undo(row, given)
    except RuleBroken as error:
        return _refused(named, error)
    return DecisionOutcome(key=named.key, words=words)


def decide_many(
    keys: Sequence[str], act_name: str, given: ActionInput, allows: Any
) -> list[DecisionOutcome]:
    """Apply one action to items, each in its own transaction. `allows(row)`: is it in reach."""
    if not keys:
        raise BadInput(NOTHING_SELECTED)
    if len(keys) > MOST_AT_ONCE:
        words = _lazy("%(keys)s items are too many at once. Select at most %(most_at_once)s.")
        raise BadInput(words, keys=len(keys), most_at_once=MOST_AT_ONCE)
    return [_one_of_many(key, act_name, given, allows) for key in dict.fromkeys(keys)]


def _one_of_many(key: str, act_name: str, given: ActionInput, allows: Any) -> DecisionOutcome:
    try:
        named = ItemRef.of(key)
    except RuleBroken as error:
        return DecisionOutcome(key="none-0", words=str(error), is_done=False)
    row = named.kind.get(named.item_id)
    if row is None or not allows(row):
        return _refused(named, _("It no longer exists, or you have no access to it."))
    try:
        act = named.kind.act(act_name)
    except RuleBroken as error:
        return replace(_refused(named, error), title=named.kind.title(row))
    if not act.in_bulk:
        return _refused(named, _("This action cannot be applied to several items at once."))
    posted = {**given.posted, "stamp": given.posted.get(f"stamp-{key}", "")}
    return decide(named, row, act, replace(given, posted=posted))


@transaction.atomic
def snooze(named: ItemRef, how_long: str, *, by: str, now: datetime) -> DecisionOutcome:
    length = LATER.get(how_long, LATER["4h"])
    rows = DeskItem.objects.of(named.kind.name, named.item_id).in_sight(now)
    row = rows.first()
    if row is None or not rows.update(later_until=now + length, later_by=by):
        return replace(_refused(named, _no_snooze(named)), is_late=True)
    until = (now + length).isoformat()
    AuditEvent.objects.record("desk.put_off", actor=by, subject=row, until=until)
    viewers.close_item(named.kind.name, named.item_id)
    words = _("Snoozed for %(hours)s h.") % {"hours": length // timedelta(hours=1)}
    return DecisionOutcome(key=named.key, words=words, act="later", undo_window=length)


def _no_snooze(named: ItemRef) -> object:
    row = DeskItem.objects.of(named.kind.name, named.item_id).first()
    if row is None or row.later_until is None:
        return _("This item no longer needs a decision.")
    return NotAllowed(_lazy("Already snoozed until %(until)s."), until=row.later_until)


@transaction.atomic
def unsnooze(named: ItemRef, *, by: str, now: datetime) -> DecisionOutcome:
    rows = DeskItem.objects.of(named.kind.name, named.item_id).put_off(now)
    row = rows.first()
    if row is None or not rows.update(later_until=None, later_by=""):
        return _refused(named, _("It was not snoozed, or no longer needs a decision."))
    end_waits(row, "later_until")
    AuditEvent.objects.record("desk.brought_forward", actor=by, subject=row)
    return DecisionOutcome(key=named.key, words=_("It is on the desk again."))


def summed(outcomes: Sequence[DecisionOutcome]) -> Mapping[str, list[DecisionOutcome]]:
    return {
        "done": [each for each in outcomes if each.is_done],
        "late": [each for each in outcomes if not each.is_done and each.is_late],
        "refused": [each for each in outcomes if not each.is_done and not each.is_late],
    }
