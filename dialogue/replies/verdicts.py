"""Store what was decided on a notification, with it and with its message."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dialogue.inbox.models import NotificationOutcome, NotificationQuerySet
from dialogue.models import Notification
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict
from surfaces.drafts.models import DEAD
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN
from surfaces.models import Draft, Message

COUNTED = {ReplyAction.PASS: "passed", ReplyAction.HOLD: "held", ReplyAction.WAIT: "waits"}
# No reply will be written, so other comments of the run are not covered by one.
LEFT_BEHIND = {Reason.SPAM, Reason.DELETED, Reason.REFUSED}


@dataclass(slots=True)
class ReplyCounts:
    """What became of notifications, explorations and tasks; activations for the last two."""

    passed: int = 0
    held: int = 0
    waits: int = 0
    drafted: int = 0
    failed: int = 0
    given_back: int = 0
    explored: int = 0
    tasks: int = 0
    resumed: int = 0
    suspended: int = 0

    def add(self, verdict: ReplyVerdict) -> None:
        name = COUNTED[verdict.answer]
        setattr(self, name, getattr(self, name) + 1)


def with_facts(rows: NotificationQuerySet) -> NotificationQuerySet:
    """With agent, account and message, without their long columns."""
    rows = rows.order_by("look_at", "id")
    agents = ["agent__settings", "presence__agent__settings"]
    rows = rows.select_related(*agents, "presence__account__surface", "message__post")
    heavy = [f"message__{name}" for name in ("raw_json", "search", "post__raw_json", "post__search",
                                             "post__content")]  # fmt: skip
    return rows.defer(*heavy)


def settled(row: Notification, verdict: ReplyVerdict, now: datetime) -> None:
    """Store a decision with the notification alone."""
    row.note(verdict=verdict.why.code, why=verdict.reason, considered_at=now, look_at=verdict.until)


def keep(row: Notification, verdict: ReplyVerdict, drafts: Sequence[Draft], now: datetime) -> None:
    """Store a decision with the notification and the message."""
    facts = {"verdict": verdict.why.code, "why": verdict.reason, "considered_at": now}
    if verdict.why == Reason.ANSWERED:
        row.note(**facts, read_at=now, outcome=NotificationOutcome.ANSWERED, look_at=None)
        reply_state.mark_sent(Message.objects.filter(pk=row.comment.pk))
        return
    if verdict.answer == ReplyAction.PASS:
        row.note(**facts, read_at=now, outcome=NotificationOutcome.PASSED, look_at=None)
        if verdict.why in LEFT_BEHIND:
            # Reopen comments that were passed because the reply to this one would cover them.
            message = row.comment
            Notification.objects.filter(
                agent=row.agent_id, verdict=Reason.IN_RUN.code, message__author=message.author,
                outcome=NotificationOutcome.PASSED, message__post=message.post_id,
                message__parent=message.parent_id,
            ).update(read_at=None, outcome="", look_at=now)  # fmt: skip
    else:
        live = next((draft for draft in drafts if draft.state not in DEAD), None)
        row.note(**facts, look_at=verdict.until, draft=live)
    # The message has the reason, too. A failed one keeps its own.
    rows = Message.objects.filter(pk=row.comment.pk)
    if verdict.why == Reason.TRIED_OUT:
        reply_state.mark_failed(rows.filter(OPEN), verdict.reason)
    elif verdict.why not in {Reason.DRAFTED, Reason.TOOL_WAITS}:  # pages say what holds it now
        reply_state.note_reason(rows, verdict.reason)
