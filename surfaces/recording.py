"""Write down that the surface has our words: message, draft, comment and ledger, in one step."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from surfaces.errors import BadInput, StaleState
from surfaces.models import AuditEvent, Draft, Message
from surfaces.models.draft import State, What
from surfaces.models.message import ReplyStatus

# The watcher may have read our words back before we got here: then its row is ours.
INSERT = """
INSERT INTO messages (
    id, account_id, remote_id, parent_id, post_id, created_at, kind, author, author_id, direction,
    title, content, url, submolt, raw_json, reply_attempts, spam_reasons, fingerprint, reply_why,
    seen_at)
SELECT new.id, %(account)s, %(remote_id)s, %(parent)s, COALESCE(%(post)s, new.id), %(created_at)s,
    %(kind)s, %(author)s, %(author_id)s, 'outgoing', %(title)s, %(content)s, %(url)s, %(submolt)s,
    %(raw)s::jsonb, 0, '[]'::jsonb, '', '', %(now)s
FROM (SELECT nextval(pg_get_serial_sequence('messages', 'id')) AS id) new
ON CONFLICT (account_id, remote_id) DO UPDATE SET direction = 'outgoing'
RETURNING id
"""


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
    why: str = "",
) -> None:
    """Move `draft` to sent. `content` is what the service made of the words, if it said so."""
    said = draft.text if content is None else content
    facts = _row(draft, remote_id, said, created_at or now, url, raw or {}, now)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(INSERT, facts)
            message_id = cursor.fetchone()[0]
        draft.advance(
            State.SENT,
            message_id=message_id,
            remote_id=remote_id,
            sent_at=now,
            why=why,
            needs_person=False,
            lease_until=None,
            challenge=None,
        )
        draft.comment().update(reply_status=ReplyStatus.SENT, reply_why="")
        AuditEvent.objects.record(
            "draft.sent", actor=actor, subject=draft, why=why, remote_id=remote_id
        )


def _row(
    draft: Draft,
    remote_id: str,
    content: str,
    created_at: datetime,
    url: str,
    raw: dict[str, Any],
    now: datetime,
) -> dict[str, Any]:
    target = draft.target
    return {
        "account": draft.account_id,
        "remote_id": remote_id,
        "parent": target.pk if target and draft.what == What.REPLY else None,
        "post": target.post_id if target else None,
        "created_at": created_at,
        "kind": "post" if draft.what == What.POST else "comment",
        "author": draft.account.handle,
        "author_id": draft.account.remote_id,
        "title": draft.title,
        "content": content,
        "url": url,
        "submolt": draft.community or (target.submolt if target else ""),
        "raw": json.dumps(raw),
        "now": now,
    }


def settle_there(draft: Draft, *, remote_id: str, by: str, now: datetime) -> None:
    """A person looked and found it: `remote_id` is the service's id of our words."""
    remote_id = remote_id.strip()
    if not remote_id or len(remote_id) > 500:
        raise BadInput("Paste the id (or pick the message) that you found on the surface.")
    if draft.state != State.UNKNOWN:
        raise StaleState(f"This draft is {draft.state}; there is nothing to settle.")
    taken = Message.objects.filter(account=draft.account_id, remote_id=remote_id).first()
    if taken and (not taken.is_ours or Draft.objects.filter(message=taken).exists()):
        raise BadInput("That id belongs to another message. Pick the one with these words.")
    record_sent(
        draft,
        remote_id=remote_id,
        now=now,
        content=taken.content if taken else None,
        created_at=taken.created_at if taken else None,
        actor=by,
        why="A person found it on the surface.",
    )
