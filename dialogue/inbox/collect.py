"""Create notifications for new messages, once each, and reopen them on changes.

    messages ──new, not spam──> notification (unread)
    ledger   ──unmarked, edited, retried, sent back──> reopened, or created
    drafts   ──sent──> answered
             ──ended otherwise──> considered again

`surfaces` does not know notifications; this module reads its tables. Ids do not commit in
order, so a cursor moves only past ids that no running transaction can add (`TableCursor`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from dialogue.activations import priorities
from dialogue.inbox.models import ReadCursor
from surfaces.messages.reply_state import SET_SENT
from surfaces.models import AuditEvent, Draft
from surfaces.workers.table_cursor import TableCursor

LOCK = 0x1_4B0C  # advisory lock, any fixed number: one process at a time
OVERLAP = 200  # ids may be drawn from a sequence shortly before their transaction gets its number
# Actions of operators and the watcher that can change a decision.
OPENING = [
    "message.unmarked",
    "message.marked_clean",
    "message.edited",
    "message.retried",
    "draft.retried",
    "draft.sent_back",
]
ASKED = ["message.retried", "draft.sent_back"]  # an operator requests a reply


@dataclass(slots=True)
class CollectReport:
    new: int = 0
    opened: int = 0
    answered: int = 0
    ended: int = 0


@transaction.atomic
def collect(*, now: datetime) -> CollectReport:
    """Update the inboxes. If another process does so, return at once."""
    found = CollectReport()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        is_alone = cursor.fetchall() == [(True,)]
    if is_alone:
        messages, ledger = _open("messages"), _open("ledger")
        events, ids, asked = _opening(ledger)
        given = {"after": messages.row.through, "now": now, "ids": ids, "asked": asked}
        given["agents"] = _hold(given)
        found.new = _do(INSERT + NEW.format(which=LATER, name=NAME) + ONCE, given)
        _do(ANSWERED_MESSAGE, given)
        found.answered = _do(ANSWERED, given)
        _close(messages)
        if ids:
            found.opened = _do(OPEN, given)
            found.opened += _do(INSERT + NEW.format(which=OPENED, name=NAME) + ONCE, given)
        _close(ledger, events)
        # Close or reopen notifications whose drafts ended.
        _do(SENT_COMMENT, given)
        found.answered += _do(SENT, given)
        found.ended = _do(ENDED, given)
    return found


# Our handle after an @, not as part of a longer name or an e-mail address.
NAME = r"""('(?<![a-z0-9])@' || regexp_replace(lower(a.handle), '([^[:alnum:]])', '\\\1', 'g')
    || '(?![.@:-]*[a-z0-9_])')"""
# Which messages: new ones since the presence began, or those that an event opens.
LATER, OPENED = "m.id > %(after)s AND m.seen_at >= p.since", "m.id = ANY(%(ids)s)"
INSERT = """
INSERT INTO dialogue_notification
    (agent_id, presence_id, message_id, kind, made_at, look_at, verdict, why, outcome)
"""
# In the order of the messages, which is that in which they are answered.
ONCE = """  AND p.agent_id = ANY(%(agents)s)
ORDER BY m.id ON CONFLICT (agent_id, message_id) DO NOTHING
"""
# Posts are included only when they mention us; comments always.
NEW = """
SELECT p.agent_id, p.id, m.id,
    CASE WHEN m.kind = 'post' THEN 'mention'
         WHEN parent.direction = 'outgoing' THEN 'reply'
         WHEN a.handle <> '' AND lower(m.content) ~ {name} THEN 'mention'
         WHEN m.parent_id IS NULL AND root.direction = 'outgoing' THEN 'reply'
         ELSE 'comment' END,
    %(now)s, %(now)s, '', '{{}}'::jsonb, ''
FROM messages m
JOIN dialogue_presence p ON p.account_id = m.account_id AND p.ended_at IS NULL
JOIN surfaces_account a ON a.id = m.account_id
JOIN messages root ON root.id = m.post_id
LEFT JOIN messages parent ON parent.id = m.parent_id
WHERE {which} AND m.direction = 'incoming' AND m.deleted_at IS NULL
  AND (m.spam_status IS NULL OR m.spam_status = 'clean')
  AND (m.kind = 'comment' OR (
    a.handle <> '' AND lower(concat_ws(' ', m.title, m.content)) ~ {name}))
  AND NOT EXISTS (SELECT FROM dialogue_notification known
                  WHERE known.agent_id = p.agent_id AND known.message_id = m.id)
"""


# What a message of ours answers: its parent, or the post that it comments on.
TARGET = "CASE WHEN o.kind = 'comment' THEN COALESCE(o.parent_id, o.post_id) END"
ANSWERED_MESSAGE = f"""
UPDATE messages m SET {SET_SENT}
FROM messages o, dialogue_notification n
WHERE o.id > %(after)s AND o.direction = 'outgoing' AND m.id = {TARGET}
  AND n.message_id = m.id AND n.read_at IS NULL AND n.draft_id IS NULL
  AND m.reply_status IS DISTINCT FROM 'sent'
"""  # noqa: S608
# Answered by a person on the service or by an external agent. Our own replies are settled by
# their drafts.
ANSWERED = f"""
UPDATE dialogue_notification n
SET read_at = %(now)s, outcome = 'answered', verdict = 'answered', why = '{{}}', look_at = NULL
FROM messages o
WHERE o.id > %(after)s AND o.direction = 'outgoing' AND n.message_id = {TARGET}
  AND n.read_at IS NULL AND n.draft_id IS NULL AND n.agent_id = ANY(%(agents)s)
"""  # noqa: S608


# Answered notifications stay closed. What an operator requests is reopened at once, whatever was
# decided; after an edit by the author the wait between two attempts still applies.
OPEN = """
UPDATE dialogue_notification n SET read_at = NULL, outcome = '', look_at = %(now)s,
    not_before = CASE WHEN n.message_id = ANY(%(asked)s) THEN NULL ELSE n.not_before END,
    draft_id = NULL, announced_at = NULL,
    asked_at = CASE WHEN n.message_id = ANY(%(asked)s) THEN %(now)s ELSE n.asked_at END,
    presence_id = COALESCE((SELECT p.id FROM dialogue_presence p WHERE p.ended_at IS NULL
        AND p.account_id = m.account_id AND p.agent_id = n.agent_id), n.presence_id)
FROM messages m
WHERE m.id = n.message_id AND n.message_id = ANY(%(ids)s) AND n.outcome <> 'answered'
  AND (m.spam_status IS NULL OR m.spam_status = 'clean')
  AND n.agent_id = ANY(%(agents)s)
"""


def _opening(ledger: TableCursor[ReadCursor]) -> tuple[list[int], list[int], list[int]]:
    """New events that can change a decision, their messages, and those that were asked for."""
    rows = AuditEvent.objects.filter(pk__gt=ledger.row.through, action__in=OPENING).order_by()
    events = list(rows.exclude(pk__in=ledger.row.dealt_with).only("action", "subject"))
    about = zip(events, _messages_of(events), strict=True)
    pairs = [(event.action, message) for event, message in about if message]
    asked = [pk for action, pk in pairs if action in ASKED]
    return [event.pk for event in events], [pk for _, pk in pairs], asked


def _messages_of(events: Sequence[AuditEvent]) -> list[int | None]:
    """For each event the id of its message, or of the one that its draft answers."""
    subjects = [event.subject.split(":") for event in events]
    drafts = [pk for kind, pk in subjects if kind == "draft"]
    targets = dict(Draft.objects.filter(pk__in=drafts).values_list("pk", "target"))
    return [targets.get(int(pk)) if kind == "draft" else int(pk) for kind, pk in subjects]


# Delivery marks the comments that its replies answer; of a post the inbox does.
SENT_COMMENT = f"""
UPDATE messages m SET {SET_SENT}
FROM surfaces_draft d, dialogue_notification n
WHERE d.id = n.draft_id AND n.read_at IS NULL AND d.state = 'sent' AND d.what = 'comment'
  AND m.id = n.message_id
"""  # noqa: S608
SENT = """
UPDATE dialogue_notification n
SET read_at = %(now)s, outcome = 'answered', verdict = 'answered', why = '{}', look_at = NULL
FROM surfaces_draft d
WHERE d.id = n.draft_id AND n.read_at IS NULL AND d.state = 'sent'
  AND n.agent_id = ANY(%(agents)s)
"""
ENDED = """
UPDATE dialogue_notification n SET draft_id = NULL, look_at = %(now)s
FROM surfaces_draft d
WHERE d.id = n.draft_id AND n.read_at IS NULL AND d.state IN ('failed', 'withdrawn', 'shadowed')
  AND n.agent_id = ANY(%(agents)s)
"""

# Agents of the statements above. What is committed after this was asked is for the next round.
MOVED = f"""
SELECT agent_id FROM ({NEW.format(which=f"(({LATER}) OR {OPENED})", name=NAME)}) AS new
UNION
SELECT n.agent_id FROM messages o JOIN dialogue_notification n ON n.message_id = {TARGET}
WHERE o.id > %(after)s AND o.direction = 'outgoing' AND n.read_at IS NULL AND n.draft_id IS NULL
UNION
SELECT agent_id FROM dialogue_notification WHERE message_id = ANY(%(ids)s)
UNION
SELECT n.agent_id FROM dialogue_notification n JOIN surfaces_draft d ON d.id = n.draft_id
WHERE n.read_at IS NULL AND d.state IN ('sent', 'failed', 'withdrawn', 'shadowed')
"""  # noqa: S608 - our own text


def _hold(given: dict[str, Any]) -> list[int]:
    """Lock the agents of all statements before the first moves a notification."""
    with connection.cursor() as cursor:
        cursor.execute(MOVED, given)
        agents = [agent for (agent,) in cursor.fetchall()]
    return priorities.hold(agents) if agents else []


TABLES = {"messages": "messages", "ledger": "surfaces_auditevent"}


def _open(name: str) -> TableCursor[ReadCursor]:
    ReadCursor.objects.get_or_create(name=name)
    mark = ReadCursor.objects.select_for_update().get(name=name)
    return TableCursor.of(mark, TABLES[name], overlap=OVERLAP)


def _close(reading: TableCursor[ReadCursor], dealt_with: Iterable[int] = ()) -> None:
    mark, known = reading.row, {*reading.row.dealt_with, *dealt_with}
    if reading.is_still and known == set(mark.dealt_with):
        return  # nothing new: avoid a write every second
    reading.advance()
    mark.dealt_with = sorted(event for event in known if event > mark.through)
    mark.save()  # the row is locked


def _do(sql: str, given: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return int(cursor.rowcount)
