"""Before somebody is told: is it still news, is a colleague at it, is it still theirs to hear."""

from datetime import datetime, timedelta

from django.db.models import CharField, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import JSONObject

from surfaces.audit.models import AuditEvent
from surfaces.desk import kinds
from surfaces.desk.models import DeskItem, DeskViewer
from surfaces.notices import schedule as notice_schedule
from surfaces.notices.models.notice import Notice, NoticeQuerySet, NoticeReason, NoticeState
from surfaces.notices.models.rule import Channel, NoticeDelivery, NoticeRule
from surfaces.notices.recipients import hours_of
from surfaces.text.reasons import StoredReason, reason

AT_ONCE = 1_000  # notices in one statement that looks at the ledger
SPACING = timedelta(minutes=5)  # between two mails, or two calls, of one rule
GONE = "notice.off_desk"
UNREAD = "notice.left_unread"
NOT_THEIRS = "notice.out_of_reach"
LATER = "notice.put_off"
IS_OFF = "notice.rule_off"


def drop_handled(now: datetime) -> None:
    """What left the desk is no news. What was told on the page counts as read."""
    gone = ~Exists(DeskItem.objects.filter(pk=OuterRef("desk_item")))
    on_desk = Notice.objects.exclude(desk_item=None)
    # Who reads the page at this moment may have locked some: they are looked at again.
    unread = on_desk.unread().filter(gone).select_for_update(skip_locked=True)
    Notice.objects.filter(pk__in=unread.values("pk")).update(read_at=now, why=UNREAD)
    while close_handled(on_desk.due(now).filter(gone)) == AT_ONCE:
        pass


def close_handled(gone: NoticeQuerySet) -> int:
    """Close some of them with the name of who was faster; return how many."""
    some = list(gone.values_list("pk", "kind", "item_id")[:AT_ONCE])
    subjects = {name: kind.subject for name, kind in kinds.kinds().items()}
    by_name: dict[str, list[int]] = {}
    for pk, kind, item in some:
        by_name.setdefault(f"{subjects.get(kind, kind)}:{item}", []).append(pk)
    deeds = AuditEvent.objects.filter(subject__in=by_name).order_by("subject", "-id")
    last = {
        line.subject: reason(
            "notice.faster", actor=_person(line.actor), action=reason(f"action.{line.action}")
        )
        for line in deeds.distinct("subject").only("subject", "actor", "action")
    }
    for name, pks in by_name.items():
        still = Notice.objects.filter(pk__in=pks, state=NoticeState.DUE)
        still.update(state=NoticeState.HANDLED, why=last.get(name, GONE))
    return len(some)


def _person(actor: str) -> str | StoredReason:
    kind, _, name = actor.partition(":")
    return name if kind in {"operator", "agent"} and name else reason(f"actor.{kind}")


def hold(now: datetime) -> None:
    """Somebody put it off, or has it open: wait until then, and look again."""
    due = Notice.objects.due(now).exclude(desk_item=None)
    later = DeskItem.objects.put_off(now).filter(pk=OuterRef("desk_item"))
    until = Subquery(later.values("later_until")[:1])
    due.filter(Exists(later), reason=NoticeReason.WAITS).update(due_at=until, why=LATER)
    at_it = DeskViewer.objects.filter(
        kind=OuterRef("kind"), item_id=OuterRef("item_id"), until__gt=now
    ).order_by("-until")
    name = Subquery(at_it.values("operator__username")[:1], output_field=CharField())
    why = JSONObject(code=Value("notice.held"), name=name)
    due.filter(Exists(at_it)).update(due_at=Subquery(at_it.values("until")[:1]), why=why)


def show(now: datetime) -> None:
    due = Notice.objects.due(now).filter(way=Channel.PAGE)
    due.filter(_silenced()).update(state=NoticeState.DROPPED, why=IS_OFF)
    due.update(state=NoticeState.TOLD, told_at=now, is_on_page=True, why="")


def _silenced() -> Q:
    return Q(rule=None) | Q(rule__is_on=False) | Q(operator__is_active=False)


def fold(now: datetime) -> int:
    """One delivery for each rule with something due; return how many were made."""
    elsewhere = Notice.objects.due(now).exclude(way=Channel.PAGE)
    elsewhere.filter(_silenced()).update(state=NoticeState.DROPPED, why=IS_OFF)
    rules = NoticeRule.objects.filter(pk__in=elsewhere.values("rule")).select_related("operator")
    return sum(_fold_for(rule, now) for rule in rules.prefetch_related("surfaces"))


def _fold_for(rule: NoticeRule, now: datetime) -> bool:
    if rule.last_told_at and now < rule.last_told_at + SPACING:
        return False  # a moment ago: what comes now goes with what comes next
    due = Notice.objects.due(now).filter(rule=rule)
    theirs_only(due, rule)
    # They were due before the quiet hours began, and something came between.
    at = notice_schedule.free_at(now, hours_of(rule))
    if at > now:
        calm = due.filter(is_urgent=False) if rule.urgent_breaks else due
        calm.update(due_at=at, why=notice_schedule.QUIET)
    if not due.exists():
        return False
    delivery = NoticeDelivery.objects.create(rule=rule, made_at=now, due_at=now)
    delivery.count = due.update(delivery=delivery, why="")
    NoticeDelivery.objects.filter(pk=delivery.pk).update(count=delivery.count)
    NoticeRule.objects.filter(pk=rule.pk).update(last_told_at=now)
    return True


def theirs_only(notices: NoticeQuerySet, rule: NoticeRule) -> None:
    """Reach may have shrunk since they were made."""
    if not rule.operator.reach.is_whole:
        seen = notices.within_reach(rule.operator).values("pk")
        notices.exclude(pk__in=seen).update(state=NoticeState.DROPPED, why=NOT_THEIRS)
