"""The inbox of one agent for its page: what came, what was decided, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from dialogue.models import Agent, Notification
from dialogue.models.notification import UNREAD, Outcome
from dialogue.overview.paging import sheet
from dialogue.overview.waits import verdict_words
from surfaces.models.message import ReplyStatus
from surfaces.reach import WHOLE, Reach

EXCERPT = 280
FAILED = Q(message__reply_status=ReplyStatus.FAILED)
TABS = {
    "": ("All", Q()),
    "unread": ("Unread", UNREAD),
    "waiting": ("Waiting", UNREAD & ~Q(verdict="")),
    "answered": ("Answered", Q(outcome=Outcome.ANSWERED)),
    "passed": ("Passed", Q(outcome=Outcome.PASSED)),
    "failed": ("Failed", FAILED),
}
HEAVY = ("raw_json", "search", "content")


@dataclass(frozen=True, slots=True)
class Row:
    note: Notification
    now: datetime

    @property
    def looks_again(self) -> datetime | None:
        """When it is considered next by itself; None when that is now, or never."""
        at = None if self.note.read_at else self.note.look_at
        return at if at and at > self.now else None

    @property
    def state(self) -> str:
        """answered, failed, passed, draft, waiting or new: what its badge says."""
        message, note = self.note.message, self.note
        if note.outcome == Outcome.ANSWERED:
            return "answered"
        if message and message.reply_status == ReplyStatus.FAILED:
            return "failed"
        if note.outcome == Outcome.PASSED:
            return "passed"
        if note.draft_id:
            return "draft"
        return "waiting" if note.verdict else "new"

    @property
    def why(self) -> str:
        """Why it is not answered, in one line."""
        if self.state == "answered":
            return ""
        message = self.note.message
        if self.state == "failed" and message and message.reply_why:
            return message.reply_why
        return self.note.why or verdict_words(self.note.verdict)

    @property
    def can_try_again(self) -> bool:
        return self.note.message_id is not None and self.state in {"passed", "failed"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    tab: str
    rows: list[Row]
    newer: str
    older: str


def page(agent: Agent, given: Mapping[str, str], *, now: datetime, reach: Reach = WHOLE) -> Page:
    """Newest first, of one tab. One query."""
    tab = given.get("show", "")
    tab = tab if tab in TABS else ""
    found = _light(Notification.objects.filter(TABS[tab][1], agent=agent))
    found = reach.narrow(found, account="presence__account", agent="")
    part = sheet(found, {"show": tab}, given)
    return Page(
        tab=tab, rows=[Row(row, now) for row in part.rows], newer=part.newer, older=part.older
    )


def _light(rows: QuerySet[Notification]) -> QuerySet[Notification]:
    """With what a line shows, and nothing long."""
    heavy = [f"message__{name}" for name in HEAVY] + [f"message__post__{name}" for name in HEAVY]
    heavy += ["presence__account__sealed_credential", "presence__account__cursor", "draft__text"]
    return (
        rows.select_related("message__post", "presence__account__surface", "draft")
        .defer(*heavy)
        .annotate(excerpt=Left("message__content", EXCERPT))
    )
