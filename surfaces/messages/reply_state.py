"""How far the answer to a comment is: the only module that writes it.

    open ──start_attempt──> pending ──mark_sent──> sent
     ^ ^                      │
     │ └───────reopen─────────┤
     └──reopen, restore──── failed <──mark_failed──┘

`rows` are the comments meant. Each verb is one statement that compares before it writes, and
returns how many rows it changed: 0 says that somebody was faster.
"""

from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest

from surfaces.messages.models import MAX_ATTEMPTS, OPEN, MessageQuerySet, ReplyStatus
from surfaces.text.reasons import StoredReason

# For statements of other modules that must mark a comment as answered in the same step.
SET_SENT = "reply_status = 'sent', reply_why = '{}'"
NO_REASON = StoredReason()
TARGET_DELETED = "sending.target_deleted"
ON_ITS_WAY: dict[str, Any] = {"reply_status": ReplyStatus.PENDING, "reply_why": NO_REASON}
UNTRIED: dict[str, Any] = {"reply_status": None, "reply_attempts": 0, "reply_why": NO_REASON}


def start_attempt(rows: MessageQuerySet, *, most: int = MAX_ATTEMPTS) -> int:
    """Count one more attempt, and say that an answer is on its way."""
    return rows.filter(reply_attempts__lt=most).update(
        reply_attempts=F("reply_attempts") + 1, **ON_ITS_WAY
    )


def mark_pending(rows: MessageQuerySet) -> int:
    """An answer is on its way, its attempt counted before; after a reset it is the first."""
    counted = Greatest(F("reply_attempts"), 1)
    return rows.filter(OPEN).update(reply_attempts=counted, **ON_ITS_WAY)


def count_attempt(rows: MessageQuerySet) -> int:
    """Count sending again as one more attempt; 0 after the last."""
    more = rows.filter(reply_attempts__lt=MAX_ATTEMPTS)
    return more.update(reply_attempts=F("reply_attempts") + 1)


def uncount_attempt(rows: MessageQuerySet) -> int:
    return rows.filter(reply_attempts__gt=0).update(reply_attempts=F("reply_attempts") - 1)


def mark_sent(rows: MessageQuerySet) -> int:
    unsent = rows.exclude(reply_status=ReplyStatus.SENT)
    return unsent.update(reply_status=ReplyStatus.SENT, reply_why=NO_REASON)


def mark_failed(rows: MessageQuerySet, why: str | StoredReason) -> int:
    unsent = rows.exclude(reply_status=ReplyStatus.SENT)
    return unsent.update(reply_status=ReplyStatus.FAILED, reply_why=why)


def note_reason(rows: MessageQuerySet, why: str | StoredReason) -> int:
    """Say why an open comment has no answer yet, or gets none."""
    return rows.filter(OPEN).update(reply_why=why)


def reopen(rows: MessageQuerySet, *, with_fresh_attempts: bool = False) -> int:
    """Leave the comment as open as if nothing had been tried to answer it."""
    fresh = {"reply_attempts": 0} if with_fresh_attempts else {}
    return rows.exclude(reply_status=ReplyStatus.SENT).update(reply_status=None, **fresh)


def reopen_returned(rows: MessageQuerySet) -> int:
    """Reopen what failed only because the service said that it was deleted."""
    failed = rows.filter(reply_status=ReplyStatus.FAILED)
    return reopen(failed.filter(reply_why__contains={"code": TARGET_DELETED}))


def restore(
    rows: MessageQuerySet, status: str | None, *, attempts: int = 0, why: Any = NO_REASON
) -> int:
    """Put back how things stood, as a person asks; `rows` says what must still hold."""
    return rows.update(reply_status=status, reply_attempts=attempts, reply_why=why)
