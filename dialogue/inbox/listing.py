"""Read the inbox of one agent for its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from dialogue.inbox import suspensions
from dialogue.inbox.models import UNREAD, Notification, NotificationOutcome
from dialogue.inbox.waiting import verdict_words
from surfaces.messages.models import ReplyStatus, beginning
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.text.reasons import StoredReason
from surfaces.web.pagination import KeysetPage, paginate

EXCERPT = 280
TABS = {
    "": (_lazy("All"), Q()),
    "unread": (_lazy("Unread"), UNREAD),
    "waiting": (_lazy("Waiting"), UNREAD & ~Q(verdict="")),
    "answered": (_lazy("Answered"), Q(outcome=NotificationOutcome.ANSWERED)),
    "passed": (_lazy("Passed"), Q(outcome=NotificationOutcome.PASSED)),
    "failed": (_lazy("Failed"), Q(message__reply_status=ReplyStatus.FAILED)),
}
HEAVY = ("raw_json", "search", "content")


@dataclass(frozen=True, slots=True)
class InboxRow:
    note: Notification
    now: datetime
    held: StoredReason | None = None  # what holds its conversation now

    @property
    def looks_again(self) -> datetime | None:
        """When it is considered next; None if that is now or never."""
        at = None if self.note.read_at else self.note.look_at
        return at if at and at > self.now else None

    @property
    def state(self) -> str:
        """State for the badge: answered, failed, passed, draft, waiting or new."""
        message, note = self.note.message, self.note
        if note.outcome == NotificationOutcome.ANSWERED:
            return "answered"
        if message and message.reply_status == ReplyStatus.FAILED:
            return "failed"
        if note.outcome == NotificationOutcome.PASSED:
            return "passed"
        if note.draft_id:
            return "draft"
        return "waiting" if note.verdict else "new"

    @property
    def why(self) -> str:
        if self.state == "answered":
            return ""
        message = self.note.message
        if self.state == "failed" and message and message.reply_why:
            return str(message.reply_why)
        return str(self.held or self.note.why) or verdict_words(self.note.verdict)

    @property
    def can_try_again(self) -> bool:
        return self.note.message_id is not None and self.state in {"passed", "failed"}


def list_inbox(
    agent: Agent, tab: str, given: Mapping[str, str], *, now: datetime, reach: Scope = UNRESTRICTED
) -> KeysetPage[InboxRow]:
    heavy = [f"message__{name}" for name in HEAVY] + [f"message__post__{name}" for name in HEAVY]
    heavy += ["presence__account__sealed_credential", "presence__account__cursor", "draft__text"]
    rows = Notification.objects.filter(TABS[tab][1], agent=agent).defer(*heavy)
    rows = rows.select_related("message__post", "presence__account__surface", "draft")
    found = rows.annotate(excerpt=beginning("message__content", EXCERPT))
    found = reach.narrow(found, account="presence__account", agent="")
    page = paginate(found, given, keep={"show": tab})
    unread = [note for note in page.rows if note.read_at is None]
    held = suspensions.holds([n.pk for n in unread if n.verdict == suspensions.SUSPENDED], now=now)
    return page.map(lambda note: InboxRow(note, now, held.get(note.pk)))
