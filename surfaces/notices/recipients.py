"""Recipients: live rules with their operators, read once per round."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surfaces.notices import schedule as notice_schedule
from surfaces.notices.matching import NoticeFilter
from surfaces.notices.models.notice import LONGEST_WORDS, Notice, NoticeReason
from surfaces.notices.models.rule import Channel, NoticeFrequency, NoticeRule
from surfaces.notices.schedule import DeliveryHours, QuietHours
from surfaces.operators.scope import Scope, limit_of
from surfaces.text.format import one_line
from surfaces.text.reasons import StoredReason, note


@dataclass(frozen=True, slots=True)
class Recipient:
    rule: NoticeRule
    wish: NoticeFilter
    hours: DeliveryHours

    @property
    def reach(self) -> Scope:
        return self.rule.operator.reach

    def notice(
        self,
        reason: NoticeReason,
        subject: str,
        *,
        now: datetime,
        moment: datetime,
        is_urgent: bool = False,
        words: str | StoredReason = "",
        author: str = "",
        **facts: Any,
    ) -> Notice:
        when = notice_schedule.when(now, self.hours, is_urgent=is_urgent)
        said = words if isinstance(words, StoredReason) else note(one_line(words, LONGEST_WORDS))
        return Notice(
            operator_id=self.rule.operator_id,
            rule=self.rule,
            way=self.rule.way,
            subject=subject[:120],
            reason=reason,
            moment=moment,
            is_urgent=is_urgent,
            words=said,
            author=one_line(author, 80),
            made_at=now,
            due_at=when.at,
            why=when.why,
            **facts,
        )


def live() -> list[Recipient]:
    """Three queries, and one or two for each operator with limits."""
    found = NoticeRule.objects.live().select_related("operator").prefetch_related("surfaces")
    rules = list(found)
    people = {rule.operator_id: rule.operator for rule in rules}
    for rule in rules:  # one object for each person, so that their reach is asked for once
        rule.operator = people[rule.operator_id]
    return [recipient(rule) for rule in rules]


def recipient(rule: NoticeRule) -> Recipient:
    wish = NoticeFilter(
        hears_items=rule.hears_items,
        hears_down=rule.hears_down,
        kinds=frozenset(rule.kinds),
        surfaces=limit_of(rule.only_surfaces, (surface.pk for surface in rule.surfaces.all())),
        agents=limit_of(rule.only_agents, rule.agents),
        min_risk=rule.min_risk,
        from_item=rule.from_item,
    )
    return Recipient(rule, wish, hours_of(rule))


def hours_of(rule: NoticeRule) -> DeliveryHours:
    """On the page nobody is disturbed, so nothing is put off there."""
    if rule.channel == Channel.PAGE:
        return DeliveryHours(zone=rule.zone)
    is_quiet = rule.quiet_from is not None and rule.quiet_to is not None
    return DeliveryHours(
        zone=rule.zone,
        pace=NoticeFrequency(rule.pace),
        every_hours=rule.every_hours,
        daily_at=rule.daily_at,
        quiet=QuietHours(rule.quiet_from, rule.quiet_to) if is_quiet else None,  # type: ignore[arg-type]
        urgent_breaks=rule.urgent_breaks,
    )
