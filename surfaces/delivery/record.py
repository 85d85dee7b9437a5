"""Record a successful delivery: message, draft, comment and audit entry in one statement."""

import json
from contextlib import nullcontext
from datetime import datetime
from typing import Any

import psycopg
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from surfaces.audit.models import name_of
from surfaces.drafts.models import STEPS, Draft, DraftKind, DraftState
from surfaces.errors import IllegalMove, StaleState, Unconfirmed
from surfaces.messages.reply_state import SET_SENT
from surfaces.text.reasons import StoredReason, as_reason, reason

# One statement, because it runs for every reply: the draft moves only if it is still what
# the sender holds (locked first), and nothing else is written unless it moved. The watcher may
# have read our words back before we got here; then its row is the message. A row of a stranger, or
# of ours in another thread, is not: then the service named a wrong id. It need not reach the disk
# at once: the mark that the sending began did, and what a power cut takes is found by looking.
RECORD = f"""
WITH held AS (
    SELECT nextval(pg_get_serial_sequence('messages', 'id')) AS fresh_id,
        set_config('synchronous_commit', 'off', true) FROM surfaces_draft
    WHERE id = %(draft)s AND state = %(state)s AND claim_number = %(number)s FOR UPDATE
), said AS (
    INSERT INTO messages (id, account_id, remote_id, parent_id, post_id, created_at, kind, author,
        author_id, direction, title, content, url, submolt, raw_json, reply_attempts,
        spam_reasons, fingerprint, reply_why, seen_at)
    SELECT fresh_id, %(account)s, %(remote_id)s::text, %(parent)s, COALESCE(%(post)s, fresh_id),
        %(created_at)s, %(kind)s, %(author)s, %(author_id)s, 'outgoing', %(title)s, %(content)s,
        %(url)s, %(submolt)s, %(raw)s::jsonb, 0, '[]', '', '{{}}', %(now)s
    FROM held
    ON CONFLICT (account_id, remote_id) DO UPDATE SET direction = 'outgoing'
        WHERE messages.direction = 'outgoing' AND messages.kind = %(kind)s
            AND (%(post)s::bigint IS NULL OR messages.post_id = %(post)s::bigint)
    RETURNING id
), moved AS (
    UPDATE surfaces_draft d SET state = 'sent', message_id = said.id,
        remote_id = %(remote_id)s::text, sent_at = %(now)s, why = %(why)s::jsonb,
        needs_person = false, lease_until = NULL, challenge = NULL
    FROM said
    WHERE d.id = %(draft)s AND d.state = %(state)s AND d.claim_number = %(number)s
    RETURNING d.message_id
), answered AS (
    UPDATE messages SET {SET_SENT}
    WHERE id = %(parent)s AND EXISTS (SELECT 1 FROM moved)
), noted AS (
    INSERT INTO surfaces_auditevent (at, action, actor, subject, account_id, agent, why, facts)
    SELECT %(now)s, 'draft.sent', %(actor)s, %(subject)s, %(account)s, %(agent)s, %(why)s::jsonb,
        jsonb_build_object('remote_id', %(remote_id)s::text)
    FROM moved
)
SELECT message_id FROM moved
"""  # noqa: S608


def prepared_cursor() -> CursorWrapper:
    """Plan each statement once per connection; Django's cursors put the values into the text.

    For the statements that run for every draft: planning them took longer than they do.
    """
    connection.ensure_connection()
    session = connection.connection
    session.prepare_threshold = 0  # uses of a statement before it is prepared; Django says never
    cursor: Any = psycopg.Cursor(session)
    return connection.make_cursor(cursor)


def record_sent(
    draft: Draft,
    *,
    remote_id: str,
    now: datetime,
    content: str | None = None,
    created_at: datetime | None = None,
    url: str = "",
    raw: dict[str, Any] | None = None,
    actor: str = "sender",
    why: str | StoredReason = "",
) -> None:
    """Move `draft` to sent. `content` is the text as the service stored it, if known.

    Raises `Unconfirmed` where `remote_id` is another message.
    """
    if DraftState.SENT not in STEPS.get(draft.state, set()):
        raise IllegalMove(reason("draft.not_sendable", state=draft.state_name))
    facts = _facts(draft) | {
        "remote_id": remote_id, "content": draft.text if content is None else content,
        "created_at": created_at or now, "url": url or None, "raw": json.dumps(raw or {}),
        "actor": actor, "why": json.dumps(as_reason(why)), "now": now,
    }  # fmt: skip
    # Alone, the statement is its own transaction; inside another, a failure must not spoil that.
    within = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with within, prepared_cursor() as cursor:
        cursor.execute(RECORD, facts)
        row = cursor.fetchone()
    if row is None:
        # Of a draft that did not move, the id was refused.
        unmoved = Draft.objects.filter(
            pk=draft.pk, state=draft.state, claim_number=draft.claim_number
        )
        if unmoved.exists():
            raise Unconfirmed("sending.other_message")
        raise StaleState(reason("draft.moved", pk=str(draft.pk), state=draft.state_name))
    draft.state, draft.message_id, draft.remote_id = DraftState.SENT, row[0], remote_id
    draft.sent_at, draft.why, draft.needs_person = now, why, False
    draft.lease_until = draft.challenge = None


def _facts(draft: Draft) -> dict[str, Any]:
    target = draft.target
    return {
        "draft": draft.pk, "state": draft.state, "number": draft.claim_number,
        "account": draft.account_id, "agent": draft.agent, "subject": name_of(draft),
        "parent": target.pk if target and draft.what == DraftKind.REPLY else None,
        "post": target.post_id if target else None,
        "kind": "post" if draft.what == DraftKind.POST else "comment",
        "author": draft.account.handle or None, "author_id": draft.account.remote_id,
        "title": draft.title or None,
        "submolt": draft.community or (target.submolt if target else "") or None,
    }  # fmt: skip
