"""Triggers and functions: the audit log is append-only, the desk is kept, open pages are told."""

from django.db import migrations

# The audit log refuses every change but an addition.
AUDIT = """
CREATE FUNCTION colloquy_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log cannot be edited: % refused', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON surfaces_auditevent
    FOR EACH ROW EXECUTE FUNCTION colloquy_refuse_audit_change();
CREATE TRIGGER audit_is_never_truncated BEFORE TRUNCATE ON surfaces_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION colloquy_refuse_audit_change();
"""
DROP_AUDIT = """
DROP TRIGGER audit_is_never_truncated ON surfaces_auditevent;
DROP TRIGGER audit_is_append_only ON surfaces_auditevent;
DROP FUNCTION colloquy_refuse_audit_change();
"""

# Desk items follow the rows that need a decision.
DESK = """
CREATE FUNCTION desk_put(
    a_kind text, an_item bigint, an_account bigint, an_agent text, a_since timestamptz,
    an_expiry timestamptz, a_risk int, an_author text, the_words text
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO desk_items AS d
        (kind, item_id, account_id, agent, since, expires_at, risk, author, words, later_by)
    VALUES (a_kind, an_item, an_account, an_agent, a_since, an_expiry, a_risk,
            left(an_author, 200), left(the_words, 800), '')
    ON CONFLICT (kind, item_id) DO UPDATE SET
        agent = excluded.agent, expires_at = excluded.expires_at, risk = excluded.risk,
        author = excluded.author, words = excluded.words
$$;

CREATE FUNCTION desk_keep_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM desk_items WHERE kind IN ('suspect', 'given_up') AND item_id = OLD.id;
        RETURN NULL;
    END IF;
    IF NEW.spam_status = 'suspect' AND NEW.direction = 'incoming' AND NEW.deleted_at IS NULL THEN
        PERFORM desk_put(
            'suspect', NEW.id, NEW.account_id, '', coalesce(NEW.edited_at, NEW.seen_at), NULL,
            CASE WHEN NEW.spam_score >= 0.8 THEN 2 WHEN NEW.spam_score >= 0.6 THEN 1 ELSE 0 END,
            NEW.author, concat_ws(' ', left(NEW.title, 300), left(NEW.content, 400)));
    ELSIF TG_OP = 'UPDATE' THEN
        DELETE FROM desk_items WHERE kind = 'suspect' AND item_id = NEW.id;
    END IF;
    IF NEW.reply_status = 'failed' AND NEW.kind = 'comment' AND NEW.direction = 'incoming'
        AND NEW.deleted_at IS NULL AND NEW.spam_status IS DISTINCT FROM 'spam'
        AND NOT EXISTS (SELECT FROM surfaces_draft
                        WHERE target_id = NEW.id AND what = 'reply' AND state = 'failed') THEN
        PERFORM desk_put('given_up', NEW.id, NEW.account_id, '', now(), NULL, 1, NEW.author,
                         left(NEW.content, 400));
    ELSIF TG_OP = 'UPDATE' THEN
        DELETE FROM desk_items WHERE kind = 'given_up' AND item_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_message AFTER INSERT ON messages FOR EACH ROW
    WHEN (NEW.spam_status = 'suspect' OR NEW.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();
CREATE TRIGGER desk_changed_message AFTER UPDATE OF
    spam_status, spam_score, reply_status, deleted_at, content, title, author ON messages
    FOR EACH ROW
    WHEN (OLD.spam_status = 'suspect' OR NEW.spam_status = 'suspect'
          OR OLD.reply_status = 'failed' OR NEW.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();
CREATE TRIGGER desk_gone_message AFTER DELETE ON messages FOR EACH ROW
    WHEN (OLD.spam_status = 'suspect' OR OLD.reply_status = 'failed')
    EXECUTE FUNCTION desk_keep_message();

CREATE FUNCTION desk_keep_draft() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_of text := '';
    question record;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        now_of := CASE
            WHEN NEW.state = 'waiting' AND NEW.stale_why = '{}'::jsonb THEN 'draft'
            WHEN NEW.state = 'waiting' THEN 'lapsed'
            WHEN NEW.state = 'failed' THEN 'failed'
            WHEN NEW.state = 'unknown' AND NEW.needs_person THEN 'unknown'
            ELSE '' END;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM desk_items WHERE item_id = OLD.id
            AND kind IN ('draft', 'lapsed', 'failed', 'unknown') AND kind <> now_of;
    END IF;
    IF now_of = '' THEN
        RETURN NULL;
    END IF;
    SELECT author, left(content, 400) AS content INTO question
        FROM messages WHERE id = NEW.target_id;
    PERFORM desk_put(
        now_of, NEW.id, NEW.account_id, NEW.agent,
        CASE now_of WHEN 'draft' THEN NEW.made_at
                    WHEN 'lapsed' THEN coalesce(NEW.stale_at, NEW.made_at)
                    ELSE coalesce(NEW.asked_at, NEW.decided_at, NEW.made_at) END,
        CASE WHEN NEW.state = 'waiting' THEN NEW.expires_at END,
        CASE now_of WHEN 'draft' THEN 0 WHEN 'lapsed' THEN 1 ELSE 2 END,
        coalesce(question.author, ''),
        concat_ws(' ', nullif(NEW.title, ''), left(NEW.text, 400), question.content));
    IF now_of = 'failed' THEN
        DELETE FROM desk_items WHERE kind = 'given_up' AND item_id = NEW.target_id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_draft AFTER INSERT ON surfaces_draft FOR EACH ROW
    WHEN (NEW.state IN ('waiting', 'failed', 'unknown')) EXECUTE FUNCTION desk_keep_draft();
CREATE TRIGGER desk_changed_draft AFTER UPDATE OF
    state, stale_why, stale_at, needs_person, text, title, agent, expires_at ON surfaces_draft
    FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'failed', 'unknown')
          OR NEW.state IN ('waiting', 'failed', 'unknown'))
    EXECUTE FUNCTION desk_keep_draft();
CREATE TRIGGER desk_gone_draft AFTER DELETE ON surfaces_draft FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'failed', 'unknown')) EXECUTE FUNCTION desk_keep_draft();

CREATE FUNCTION desk_keep_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.is_on AND NEW.state IN ('auth_failed', 'suspended') THEN
        PERFORM desk_put('account', NEW.id, NEW.id, '', NEW.state_since, NULL, 2, NEW.name,
                         coalesce(NEW.state_why->>'text', ''));
    ELSE
        DELETE FROM desk_items WHERE kind = 'account' AND item_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_account AFTER INSERT ON surfaces_account FOR EACH ROW
    WHEN (NEW.state IN ('auth_failed', 'suspended')) EXECUTE FUNCTION desk_keep_account();
CREATE TRIGGER desk_changed_account AFTER UPDATE OF state, state_why, is_on, name
    ON surfaces_account FOR EACH ROW
    WHEN (OLD.state IN ('auth_failed', 'suspended') OR NEW.state IN ('auth_failed', 'suspended'))
    EXECUTE FUNCTION desk_keep_account();
"""
DROP_DESK = """
DROP TRIGGER desk_new_message ON messages;
DROP TRIGGER desk_changed_message ON messages;
DROP TRIGGER desk_gone_message ON messages;
DROP TRIGGER desk_new_draft ON surfaces_draft;
DROP TRIGGER desk_changed_draft ON surfaces_draft;
DROP TRIGGER desk_gone_draft ON surfaces_draft;
DROP TRIGGER desk_new_account ON surfaces_account;
DROP TRIGGER desk_changed_account ON surfaces_account;
DROP FUNCTION desk_keep_message, desk_keep_draft, desk_keep_account, desk_put;
"""

# A change of the desk or of a pause is announced to open pages. A payload names only what
# changed: PostgreSQL folds equal ones of a transaction into one notification.
LIVE = """
CREATE FUNCTION colloquy_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('colloquy', TG_ARGV[0]);
    RETURN NULL;
END
$$;
CREATE TRIGGER live_desk AFTER INSERT OR DELETE ON desk_items
    FOR EACH ROW EXECUTE FUNCTION colloquy_notify('desk');
CREATE TRIGGER live_desk_changed AFTER UPDATE ON desk_items
    FOR EACH ROW WHEN (OLD.later_until IS DISTINCT FROM NEW.later_until)
    EXECUTE FUNCTION colloquy_notify('desk');
CREATE TRIGGER live_pause AFTER INSERT OR UPDATE OR DELETE ON surfaces_pause
    FOR EACH ROW EXECUTE FUNCTION colloquy_notify('pause');
"""
DROP_LIVE = """
DROP TRIGGER live_pause ON surfaces_pause;
DROP TRIGGER live_desk_changed ON desk_items;
DROP TRIGGER live_desk ON desk_items;
DROP FUNCTION colloquy_notify();
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0001_initial")]

    operations = [
        migrations.RunSQL(AUDIT, DROP_AUDIT),
        migrations.RunSQL(DESK, DROP_DESK),
        migrations.RunSQL(LIVE, DROP_LIVE),
    ]
