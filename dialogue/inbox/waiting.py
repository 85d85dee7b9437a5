"""Count unread notifications by the decision that makes them wait."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Min
from django.utils.translation import gettext as _

from dialogue.models import Agent, Notification
from dialogue.replies.decision import Reason
from surfaces.operators.scope import Scope
from surfaces.text.reasons import reason


def waits(agent: Agent, *, now: datetime, reach: Scope) -> list[dict[str, Any]]:
    """Each decision in words, how many wait for it, and when they are checked again."""
    unread = Notification.objects.filter(agent=agent).unread().order_by()
    rows = reach.narrow(unread, account="presence__account", agent="")
    counts = rows.values("verdict").annotate(count=Count("pk"), look_at=Min("look_at"))
    found: list[Any] = list(counts.order_by("-count", "verdict"))
    for row in found:
        row["words"] = verdict_words(row["verdict"])
        row["is_due"] = row["look_at"] is not None and row["look_at"] <= now
    return found


def verdict_words(code: str) -> str:
    """Text of a decision code; "" means not decided yet."""
    if not code:
        return _("not checked yet")
    known = Reason.__members__.get(code.upper())
    return str(reason(known.value)) if known else code.replace("_", " ")
