"""Who hears: the live rules with their operators, read once for a whole round."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surfaces.models import Notice, NoticeRule
from surfaces.models.notice import LONGEST_WORDS, Reason
from surfaces.models.notice_rule import Channel, Pace
from surfaces.notices import hours
from surfaces.notices.hours import Hours, Quiet
from surfaces.notices.wishes import Wish
from surfaces.reach import Reach
from surfaces.showing import plain


@dataclass(frozen=True, slots=True)
class Hearer:
    rule: NoticeRule
    wish: Wish
    hours: Hours

    @property
    def reach(self) -> Reach:
        return self.rule.operator.reach

    def notice(
        self,
        reason: Reason,
        subject: str,
        *,
        now: datetime,
        moment: datetime,
        is_urgent: bool = False,
        words: str = "",
        author: str = "",
        **facts: Any,
    ) -> Notice:
        """One notice for this hearer, with the hour at which it is told."""
        when = hours.when(now, self.hours, is_urgent=is_urgent)
        return Notice(
            operator_id=self.rule.operator_id,
            rule=self.rule,
            way=self.rule.way,
            subject=subject[:120],
            reason=reason,
            moment=moment,
            is_urgent=is_urgent,
            words=plain(words, LONGEST_WORDS),
            author=plain(author, 80),
            made_at=now,
            due_at=when.at,
            why=when.why,
            **facts,
        )


def live() -> list[Hearer]:
    """Three queries, and one or two for each operator with limits."""
    rules = NoticeRule.objects.live().select_related("operator").prefetch_related("surfaces")
    return [hearer(rule) for rule in _with_shared_operators(list(rules))]


def hearer(rule: NoticeRule) -> Hearer:
    return Hearer(rule, _wish(rule), hours_of(rule))


def hours_of(rule: NoticeRule) -> Hours:
    """On the page nobody is disturbed, so nothing is put off there."""
    if rule.channel == Channel.PAGE:
        return Hours(zone=rule.zone)
    is_quiet = rule.quiet_from is not None and rule.quiet_to is not None
    return Hours(
        zone=rule.zone,
        pace=Pace(rule.pace),
        every_hours=rule.every_hours,
        daily_at=rule.daily_at,
        quiet=Quiet(rule.quiet_from, rule.quiet_to) if is_quiet else None,  # type: ignore[arg-type]
        urgent_breaks=rule.urgent_breaks,
    )


def _wish(rule: NoticeRule) -> Wish:
    return Wish(
        hears_items=rule.hears_items,
        hears_down=rule.hears_down,
        kinds=frozenset(rule.kinds),
        surfaces=frozenset(surface.pk for surface in rule.surfaces.all()),
        agents=frozenset(rule.agents),
        min_risk=rule.min_risk,
        from_item=rule.from_item,
    )


def _with_shared_operators(rules: list[NoticeRule]) -> list[NoticeRule]:
    """One object for each person, so that their reach is asked for once."""
    people = {rule.operator_id: rule.operator for rule in rules}
    for rule in rules:
        rule.operator = people[rule.operator_id]
    return rules
