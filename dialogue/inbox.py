"""What came in becomes notifications, exactly once; what changed opens them again.

    messages ──new, not spam──> notification (unread)
    ledger   ──unmarked, edited, retried, sent back──> opened again, or made now
    drafts   ──sent──> read, answered
             ──ended otherwise──> considered again

The floor below knows nothing of this: we read its rows. Ids do not commit in order, so
a mark moves only past what no running transaction can still add (`InboxMark`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from dialogue.models import InboxMark

LOCK = 0x1_4B0C  # one gathering at a time; any fixed number
OVERLAP = 200  # ids taken from a sequence a moment before their transaction had a number
# What operators and the watcher do that may change an answer that was given.
OPENING = [
    "message.unmarked",
    "message.marked_clean",
    "message.edited",
    "message.retried",
    "draft.retried",
    "draft.sent_back",
]
ASKED = ["message.retried", "draft.sent_back"]  # a person wants an answer


@dataclass(slots=True)
class Gathered:
    """What one look brought, in notifications."""

    new: int = 0
    opened: int = 0
    answered: int = 0
    ended: int = 0


@transaction.atomic
def gather(*, now: datetime) -> Gathered:
    """Bring the inbox up to date. Of many at once, one works and the others return."""
    found = Gathered()
    if not _alone():
        return found
    found.new = _new_messages(now, found)
    found.opened = _opened(now)
    _settle(now, found)
    return found


def _alone() -> bool:
    return bool(_rows("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])[0][0])


# Our name behind an @, and no longer name that only begins like it, nor an address.
NAME = r"""('(?<![a-z0-9])@' || regexp_replace(lower(a.handle), '([^[:alnum:]])', '\\\1', 'g')
    || '(?![.@:-]*[a-z0-9_])')"""
# A post is looked at when it names us; a comment always is.
NEW = """
INSERT INTO dialogue_notification
    (agent_id, presence_id, message_id, kind, made_at, look_at, verdict, why, outcome)
SELECT p.agent_id, p.id, m.id,
    CASE WHEN m.kind = 'post' THEN 'mention'
         WHEN parent.direction = 'outgoing' THEN 'reply'
         WHEN a.handle <> '' AND lower(m.content) ~ {name} THEN 'mention'
         WHEN m.parent_id IS NULL AND root.direction = 'outgoing' THEN 'reply'
         ELSE 'comment' END,
    %(now)s, CASE WHEN m.kind = 'comment' THEN %(now)s::timestamptz END, '', '', ''
FROM messages m
JOIN dialogue_presence p ON p.account_id = m.account_id AND p.ended_at IS NULL
JOIN surfaces_account a ON a.id = m.account_id
JOIN messages root ON root.id = m.post_id
LEFT JOIN messages parent ON parent.id = m.parent_id
WHERE {which} AND m.direction = 'incoming' AND m.deleted_at IS NULL
  AND (m.spam_status IS NULL OR m.spam_status = 'clean')
  AND (m.kind = 'comment' OR (a.handle <> '' AND lower(m.title || ' ' || m.content) ~ {name}))
ON CONFLICT (agent_id, message_id) DO NOTHING
"""


def _new_messages(now: datetime, found: Gathered) -> int:
    reading = Reading.of("messages")
    which = "m.id > %(after)s AND m.seen_at >= p.since"
    made = _do(NEW.format(which=which, name=NAME), {"after": reading.after, "now": now})
    _do(ANSWERED_MESSAGE, {"after": reading.after})
    found.answered += _do(ANSWERED, {"after": reading.after, "now": now})
    reading.close()
    return made


ANSWERED_MESSAGE = """
UPDATE messages m SET reply_status = 'sent', reply_why = ''
FROM messages o, dialogue_notification n
WHERE o.id > %(after)s AND o.direction = 'outgoing' AND o.parent_id = m.id
  AND n.message_id = m.id AND n.read_at IS NULL AND n.draft_id IS NULL
  AND m.reply_status IS DISTINCT FROM 'sent'
"""
# By whomever: a person there, or an agent that lives elsewhere. What is on its way through
# us is settled by its draft.
ANSWERED = """
UPDATE dialogue_notification n
SET read_at = %(now)s, outcome = 'answered', verdict = 'answered', why = '', look_at = NULL
FROM messages o
WHERE o.id > %(after)s AND o.direction = 'outgoing' AND o.parent_id = n.message_id
  AND n.read_at IS NULL AND n.draft_id IS NULL
"""


CHANGED = """
SELECT e.id, CASE WHEN e.subject LIKE 'draft:%%' THEN d.target_id
        ELSE split_part(e.subject, ':', 2)::bigint END, e.action = ANY(%(asked)s)
FROM surfaces_auditevent e
LEFT JOIN surfaces_draft d ON e.subject LIKE 'draft:%%'
    AND d.id = split_part(e.subject, ':', 2)::bigint
WHERE e.id > %(after)s AND e.action = ANY(%(opening)s) AND NOT e.id = ANY(%(known)s)
"""
# What was answered stays answered. What a person asked for is opened whatever came before, and
# at once; what a stranger edits still waits between two tries.
OPEN = """
UPDATE dialogue_notification n SET read_at = NULL, outcome = '', look_at = %(now)s,
    not_before = CASE WHEN n.message_id = ANY(%(asked)s) THEN NULL ELSE n.not_before END,
    draft_id = NULL, announced_at = NULL,
    asked_at = CASE WHEN n.message_id = ANY(%(asked)s) THEN %(now)s ELSE n.asked_at END,
    presence_id = COALESCE((SELECT p.id FROM dialogue_presence p WHERE p.ended_at IS NULL
        AND p.account_id = m.account_id AND p.agent_id = n.agent_id), n.presence_id)
FROM messages m
WHERE m.id = n.message_id AND n.message_id = ANY(%(ids)s) AND n.outcome <> 'answered'
  AND m.kind = 'comment' AND (m.spam_status IS NULL OR m.spam_status = 'clean')
"""


def _opened(now: datetime) -> int:
    reading = Reading.of("ledger")
    given = {"after": reading.after, "known": reading.mark.dealt_with}
    events = _rows(CHANGED, given | {"opening": OPENING, "asked": ASKED})
    ids = [message for _, message, _ in events if message]
    opened = 0
    if ids:
        asked = [message for _, message, is_asked in events if message and is_asked]
        opened = _do(OPEN, {"ids": ids, "asked": asked, "now": now})
        new = NEW.format(which="m.id = ANY(%(ids)s)", name=NAME)
        opened += _do(new, {"ids": ids, "now": now})
    reading.close(event for event, _, _ in events)
    return opened


SENT = """
UPDATE dialogue_notification n
SET read_at = %(now)s, outcome = 'answered', verdict = 'answered', why = '', look_at = NULL
FROM surfaces_draft d
WHERE d.id = n.draft_id AND n.read_at IS NULL AND d.state = 'sent'
"""
ENDED = """
UPDATE dialogue_notification n SET draft_id = NULL, look_at = %(now)s
FROM surfaces_draft d
WHERE d.id = n.draft_id AND n.read_at IS NULL AND d.state IN ('failed', 'withdrawn', 'shadowed')
"""


def _settle(now: datetime, found: Gathered) -> None:
    """See what became of the drafts that notifications wait for."""
    found.answered += _do(SENT, {"now": now})
    found.ended = _do(ENDED, {"now": now})


# ── how far we have read ──────────────────────────────────────────────────

TABLES = {"messages": "messages", "ledger": "surfaces_auditevent"}
TOP = """
SELECT COALESCE(max(id), 0), pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
FROM {table}
"""


@dataclass(slots=True)
class Reading:
    """One look at a table: from where, and how far the mark may move when it is done."""

    mark: InboxMark
    top: int
    oldest_running: int
    next_to_run: int

    @classmethod
    def of(cls, name: str) -> Reading:
        InboxMark.objects.get_or_create(name=name)
        mark = InboxMark.objects.select_for_update().get(name=name)
        # Before anything is read: what ends after this moment may not have been visible.
        return cls(mark, *_rows(TOP.format(table=TABLES[name]))[0])

    @property
    def after(self) -> int:
        return self.mark.through

    def close(self, dealt_with: Iterable[int] = ()) -> None:
        mark, known = self.mark, {*self.mark.dealt_with, *dealt_with}
        is_still = mark.candidate == self.top and mark.through >= self.top - OVERLAP
        if is_still and known == set(mark.dealt_with):
            return  # nothing came and nothing moved: nothing to write every second
        if mark.horizon <= self.oldest_running:
            mark.through = max(mark.through, mark.candidate - OVERLAP)
            mark.candidate, mark.horizon = self.top, self.next_to_run
        mark.dealt_with = sorted(event for event in known if event > mark.through)
        mark.save()  # locked, and nobody else's


def _do(sql: str, given: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return int(cursor.rowcount)


def _rows(sql: str, given: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())
