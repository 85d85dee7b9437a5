"""Mark waiting drafts as stale whose context changed since the last look.

The changes are stored with the draft as reasons, and approving requires another look. Creating
and editing count as a look.
"""

from datetime import datetime

from django.db import connection

MOST_AT_ONCE = 500

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
    WHERE w.stale_why <> '{}' OR w.deleted_at IS NOT NULL OR w.spam_status = 'spam'
        OR COALESCE(edited.at, answered.at, again.at) IS NOT NULL
), looked AS MATERIALIZED (
    SELECT m.*, COALESCE(
        (SELECT max(e.at) FROM surfaces_auditevent e
         WHERE e.subject = 'draft:' || m.id AND e.action = 'draft.edited'), m.made_at) AS since
    FROM moved m
), told AS MATERIALIZED (
    SELECT id, to_jsonb(array_remove(ARRAY[
        CASE WHEN edited > since THEN jsonb_build_object('code', 'stale.edited') END,
        CASE WHEN deleted_at > since THEN jsonb_build_object('code', 'stale.deleted') END,
        CASE WHEN spam_status = 'spam' THEN jsonb_build_object('code', 'stale.spam') END,
        CASE WHEN answered > since THEN jsonb_build_object('code', 'stale.answered') END,
        CASE WHEN again > since THEN jsonb_build_object('code', 'stale.wrote_again', 'author',
            btrim(left(regexp_replace(author, '[[:space:][:cntrl:]]+', ' ', 'g'), 60), '@ '))
            END], NULL)) AS parts,
        jsonb_build_object('what', jsonb_build_object('code', 'part.' || kind)) AS named
    FROM looked
), said AS MATERIALIZED (
    SELECT id, CASE jsonb_array_length(parts) WHEN 0 THEN '{}' WHEN 1 THEN parts->0 || named
        ELSE jsonb_build_object('code', 'several', 'reasons',
            (SELECT jsonb_agg(part || named) FROM jsonb_array_elements(parts) part)) END AS why
    FROM told
), changed AS (
    SELECT d.id, said.why FROM surfaces_draft d JOIN said USING (id)
    WHERE d.state = 'waiting' AND d.stale_why <> said.why
    ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
), marked AS (
    UPDATE surfaces_draft d SET stale_why = c.why,
        stale_at = CASE WHEN c.why <> '{}' THEN %(now)s::timestamptz END
    FROM changed c WHERE d.id = c.id
    RETURNING d.id, d.account_id, d.agent, c.why
)
INSERT INTO surfaces_auditevent (at, action, actor, subject, account_id, agent, why, facts)
SELECT %(now)s, 'draft.went_stale', 'colloquy', 'draft:' || id, account_id, agent, why, '{}'::jsonb
FROM marked WHERE why <> '{}'
"""


def mark_stale(*, now: datetime) -> int:
    """Mark changed drafts, unmark reverted ones; return how many became stale."""
    with connection.cursor() as cursor:
        cursor.execute(MARK, {"now": now})
        return int(cursor.rowcount)
