"""A trigger that keeps desk items of tool calls: those that wait, and those that are unconfirmed.

Risk: reading and writing low, publishing and external some, executing high; one more where an
argument rests on words of other people.
"""

from django.db import migrations

KEEP = """
CREATE FUNCTION desk_keep_tool_call() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_of text := '';
    place record;
    said text;
BEGIN
    IF TG_OP <> 'DELETE' THEN
        now_of := CASE NEW.state WHEN 'waiting' THEN 'tool_call'
                                 WHEN 'unknown' THEN 'tool_unknown' ELSE '' END;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM desk_items WHERE item_id = OLD.id
            AND kind IN ('tool_call', 'tool_unknown') AND kind <> now_of;
    END IF;
    IF now_of = '' THEN
        RETURN NULL;
    END IF;
    SELECT p.account_id, a.slug, m.author INTO place
        FROM dialogue_presence p JOIN dialogue_agent a ON a.id = NEW.agent_id
            LEFT JOIN dialogue_activationitem i ON i.id = NEW.item_id
            LEFT JOIN dialogue_notification n ON n.id = i.notification_id
            LEFT JOIN messages m ON m.id = n.message_id
        WHERE p.id = NEW.presence_id;
    SELECT string_agg(key || ': ' || left(value, 300), ' ') INTO said
        FROM jsonb_each_text(CASE jsonb_typeof(NEW.arguments) WHEN 'object' THEN NEW.arguments
                                  ELSE '{}' END) WHERE value <> '';
    PERFORM desk_put(
        now_of, NEW.id, place.account_id, place.slug,
        CASE now_of WHEN 'tool_call' THEN NEW.made_at
                    ELSE coalesce(NEW.started_at, NEW.made_at) END,
        CASE now_of WHEN 'tool_call' THEN NEW.expires_at END,
        CASE WHEN now_of = 'tool_unknown' THEN 2 ELSE least(2,
            CASE NEW.risk WHEN 'read' THEN 0 WHEN 'write' THEN 0 WHEN 'execute' THEN 2 ELSE 1 END
            + jsonb_path_exists(
                NEW.sources, '$.*[*] ? (!exists(@.trust) || @.trust == 0)')::int) END,
        coalesce(place.author, ''), concat_ws(' ', NEW.tool, said));
    RETURN NULL;
END $$;

CREATE TRIGGER desk_new_tool_call AFTER INSERT ON dialogue_toolcall FOR EACH ROW
    WHEN (NEW.state IN ('waiting', 'unknown')) EXECUTE FUNCTION desk_keep_tool_call();
CREATE TRIGGER desk_changed_tool_call AFTER UPDATE OF
    state, arguments, sources, risk, expires_at ON dialogue_toolcall FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'unknown') OR NEW.state IN ('waiting', 'unknown'))
    EXECUTE FUNCTION desk_keep_tool_call();
CREATE TRIGGER desk_gone_tool_call AFTER DELETE ON dialogue_toolcall FOR EACH ROW
    WHEN (OLD.state IN ('waiting', 'unknown')) EXECUTE FUNCTION desk_keep_tool_call();
"""
DROP = """
DROP TRIGGER desk_new_tool_call ON dialogue_toolcall;
DROP TRIGGER desk_changed_tool_call ON dialogue_toolcall;
DROP TRIGGER desk_gone_tool_call ON dialogue_toolcall;
DROP FUNCTION desk_keep_tool_call;
DELETE FROM desk_items WHERE kind IN ('tool_call', 'tool_unknown');
"""
# Those that wait already.
PUT = "UPDATE dialogue_toolcall SET state = state WHERE state IN ('waiting', 'unknown')"


class Migration(migrations.Migration):
    dependencies = [("dialogue", "0007_approvals"), ("surfaces", "0011_activations")]

    operations = [
        migrations.RunSQL(KEEP, DROP),
        migrations.RunSQL(PUT, migrations.RunSQL.noop),
    ]
