"""What an agent has not read yet, by the verdict that keeps it waiting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min

from dialogue.models import Agent, Notification
from dialogue.turn_taking import Why
from surfaces.reach import Reach


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """Unread notifications of one verdict."""

    words: str
    count: int
    look_at: datetime | None
    is_due: bool


def waits(agent: Agent, *, now: datetime, reach: Reach) -> list[Waits]:
    unread = Notification.objects.filter(agent=agent).unread().order_by()
    rows = reach.narrow(unread, account="presence__account", agent="")
    counts = (
        rows.values_list("verdict")
        .annotate(count=Count("pk"), look_at=Min("look_at"))
        .order_by(F("count").desc(), "verdict")
    )
    return [
        Waits(
            words=verdict_words(verdict),
            count=count,
            look_at=look_at,
            is_due=look_at is not None and look_at <= now,
        )
        for verdict, count, look_at in counts
    ]


def verdict_words(code: str) -> str:
    """What a verdict's code says; nothing was decided where there is none."""
    if not code:
        return "not looked at yet"
    known = Why.__members__.get(code.upper())
    return known.value if known else code.replace("_", " ")
