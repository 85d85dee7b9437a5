"""Stale drafts lapse: mark waiting drafts whose surroundings moved since somebody looked.

What moved is said in sentences beside the draft; approving it asks to look again. A draft
was looked at when it was made, and again by whoever edited its words. Where the house says how
long drafts wait, one that nobody decided in time is withdrawn.
"""

from __future__ import annotations

from datetime import datetime

from django.db import connection, transaction

from surfaces.errors import StaleState
from surfaces.models import AuditEvent, Draft
from surfaces.models.draft import State
from surfaces.models.message import ReplyStatus

MOST_AT_ONCE = 500
NOBODY = "Nobody decided about its draft in time."

# One statement, because it runs every few seconds over every waiting draft: it reads each
# comment once, and of each author only what is newer than what we mean to answer. The service's
# own time of an edit may lie long before we read of it, so the ledger's counts as well. A draft
# that somebody decides on at this moment is left to the next round.
MARK = """
WITH waiting AS MATERIALIZED (
    SELECT d.id, d.what, d.made_at, d.stale_why, t.id AS target, t.kind, t.post_id, t.author,
        t.created_at, t.edited_at, t.deleted_at, t.spam_status
    FROM surfaces_draft d JOIN messages t ON t.id = d.target_id
    WHERE d.state = 'waiting'
), talkers AS (
    SELECT author, min(created_at) AS since, min(made_at) AS made_at
    FROM waiting WHERE what = 'reply' AND author <> '' GROUP BY author
), newest AS (
    SELECT DISTINCT ON (n.post_id, n.author) n.id, n.post_id, n.author, n.created_at, n.seen_at
    FROM talkers k JOIN messages n ON n.author = k.author AND n.created_at >= k.since
    WHERE n.seen_at > k.made_at AND n.kind = 'comment' AND n.direction = 'incoming'
        AND n.deleted_at IS NULL AND n.spam_status IS DISTINCT FROM 'spam'
    ORDER BY n.post_id, n.author, n.created_at DESC, n.id DESC
), again AS (
    SELECT w.id, n.seen_at AS at
    FROM waiting w JOIN newest n ON n.post_id = w.post_id AND n.author = w.author
    WHERE w.what = 'reply' AND n.id <> w.target
        AND n.created_at >= w.created_at AND n.seen_at > w.made_at
), answered AS (
    SELECT w.id, max(a.seen_at) AS at
    FROM waiting w JOIN messages a ON a.parent_id = w.target
    WHERE w.what = 'reply' AND a.direction = 'outgoing' GROUP BY w.id
), edited AS (
    SELECT w.id, GREATEST(w.edited_at, max(e.at)) AS at
    FROM waiting w LEFT JOIN surfaces_auditevent e
        ON e.subject = 'message:' || w.target AND e.action = 'message.edited'
    WHERE w.edited_at IS NOT NULL GROUP BY w.id, w.edited_at
), moved AS (
    SELECT w.*, edited.at AS edited, answered.at AS answered, again.at AS again
    FROM waiting w LEFT JOIN edited USING (id) LEFT JOIN answered USING (id)
        LEFT JOIN again USING (id)
    WHERE w.stale_why <> '' OR w.deleted_at IS NOT NULL OR w.spam_status = 'spam'
        OR COALESCE(edited.at, answered.at, again.at) IS NOT NULL
), looked AS MATERIALIZED (
    SELECT m.*, COALESCE(
        (SELECT max(e.at) FROM surfaces_auditevent e
         WHERE e.subject = 'draft:' || m.id AND e.action = 'draft.edited'), m.made_at) AS since
    FROM moved m
), told AS MATERIALIZED (
    SELECT id, concat_ws(' ',
        CASE WHEN edited > since THEN 'The ' || kind || ' was edited at the source.' END,
        CASE WHEN deleted_at > since THEN 'The ' || kind || ' was deleted at the source.' END,
        CASE WHEN spam_status = 'spam' THEN 'The ' || kind || ' was marked as spam.' END,
        CASE WHEN answered > since THEN 'The ' || kind || ' was answered elsewhere.' END,
        CASE WHEN again > since THEN '@' || btrim(left(
            regexp_replace(author, '[[:space:][:cntrl:]]+', ' ', 'g'), 60), '@ ')
            || ' wrote again in this thread.' END) AS why
    FROM looked
), changed AS (
    SELECT d.id, told.why FROM surfaces_draft d JOIN told USING (id)
    WHERE d.state = 'waiting' AND d.stale_why <> told.why
    ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
), marked AS (
    UPDATE surfaces_draft d SET stale_why = c.why,
        stale_at = CASE WHEN c.why <> '' THEN %(now)s::timestamptz END
    FROM changed c WHERE d.id = c.id
    RETURNING d.id, c.why
)
INSERT INTO surfaces_auditevent (at, action, actor, subject, why, facts)
SELECT %(now)s, 'draft.went_stale', 'colloquy', 'draft:' || id, why, '{}'::jsonb
FROM marked WHERE why <> ''
"""


def expire(*, now: datetime) -> int:
    """Withdraw what nobody decided in time; its comment says so and can be taken up by hand."""
    return sum(_expire(draft, now=now) for draft in Draft.objects.expired(now)[:MOST_AT_ONCE])


@transaction.atomic
def _expire(draft: Draft, *, now: datetime) -> bool:
    try:
        draft.advance(State.WITHDRAWN, decided_by="colloquy", decided_at=now, why=NOBODY)
    except StaleState:
        return False  # somebody decided in this moment
    unsent = draft.comment().exclude(reply_status=ReplyStatus.SENT)
    unsent.update(reply_status=ReplyStatus.FAILED, reply_why=NOBODY)
    AuditEvent.objects.record("draft.expired", actor="colloquy", subject=draft, why=NOBODY)
    return True


def mark_stale(*, now: datetime) -> int:
    """Mark what moved, unmark what moved back; return how many drafts went stale."""
    with connection.cursor() as cursor:
        cursor.execute(MARK, {"now": now})
        return int(cursor.rowcount)
