"""Count unread notifications by the decision that makes them wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min
from django.utils.translation import gettext as _

from dialogue.models import Agent, Notification
from dialogue.replies.decision import Reason
from surfaces.operators.scope import Scope
from surfaces.text.reasons import reason


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitSummary:
    words: str
    count: int
    look_at: datetime | None
    is_due: bool


def waits(agent: Agent, *, now: datetime, reach: Scope) -> list[WaitSummary]:
    unread = Notification.objects.filter(agent=agent).unread().order_by()
    rows = reach.narrow(unread, account="presence__account", agent="")
    counts = rows.values_list("verdict").annotate(count=Count("pk"), look_at=Min("look_at"))
    return [
        WaitSummary(
            words=verdict_words(verdict),
            count=count,
            look_at=look_at,
            is_due=look_at is not None and look_at <= now,
        )
        for verdict, count, look_at in counts.order_by("-count", "verdict")
    ]


def verdict_words(code: str) -> str:
    """Text of a decision code; "" means not decided yet."""
    if not code:
        return _("not checked yet")
    known = Reason.__members__.get(code.upper())
    return str(reason(known.value)) if known else code.replace("_", " ")
