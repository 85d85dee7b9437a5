"""Who works is not chosen again: `Agent.priority_at` is empty while an activation of it runs."""

from django.db import migrations, models

KEEP = """
CREATE OR REPLACE FUNCTION agent_keep_priority(
    the_agents bigint[], the_changes bigint[] DEFAULT NULL
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    kept integer;
BEGIN
    PERFORM FROM dialogue_agent WHERE id = ANY(the_agents) ORDER BY id FOR NO KEY UPDATE;
    WITH moved AS (
        SELECT a.id,
            CASE WHEN the_changes IS NOT NULL THEN greatest(a.unread + m.change, 0)
                 ELSE (SELECT count(*) FROM dialogue_notification
                       WHERE agent_id = a.id AND read_at IS NULL) END AS unread,
            (SELECT min(look_at) FROM dialogue_notification
             WHERE agent_id = a.id AND read_at IS NULL) AS due_at,
            (SELECT min(made_at) FROM dialogue_notification
             WHERE agent_id = a.id AND read_at IS NULL) AS oldest_at
        FROM unnest(the_agents, the_changes) AS m(id, change)
        JOIN dialogue_agent a ON a.id = m.id
    ), wanted AS (
        SELECT id, unread, due_at,
            CASE WHEN due_at IS NOT NULL{and_not_awake}
                 THEN oldest_at - unread * interval '5 minutes' END AS priority_at
        FROM moved
    )
    UPDATE dialogue_agent a
    SET unread = w.unread, due_at = w.due_at, priority_at = w.priority_at
    FROM wanted w WHERE a.id = w.id AND (a.unread, a.due_at, a.priority_at)
        IS DISTINCT FROM (w.unread::integer, w.due_at, w.priority_at);
    GET DIAGNOSTICS kept = ROW_COUNT;
    RETURN kept;
END $$;
"""
AWAKE = """
CREATE FUNCTION agent_is_awake(the_agent bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM dialogue_activation
                   WHERE agent_id = the_agent AND lane = 'work' AND state = 'running')
$$;
"""
# Who changes an activation holds its agent already (`activations/priorities.py`).
FOLLOW = """
CREATE FUNCTION agent_follow_activations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM agent_keep_priority(
        ARRAY[CASE TG_OP WHEN 'DELETE' THEN OLD.agent_id ELSE NEW.agent_id END], ARRAY[0::bigint]
    );
    RETURN NULL;
END $$;
CREATE TRIGGER agent_wakes AFTER INSERT ON dialogue_activation
    FOR EACH ROW WHEN (NEW.lane = 'work' AND NEW.state = 'running')
    EXECUTE FUNCTION agent_follow_activations();
CREATE TRIGGER agent_wakes_or_sleeps AFTER UPDATE OF state ON dialogue_activation
    FOR EACH ROW WHEN (NEW.lane = 'work' AND (OLD.state = 'running') <> (NEW.state = 'running'))
    EXECUTE FUNCTION agent_follow_activations();
CREATE TRIGGER agent_sleeps AFTER DELETE ON dialogue_activation
    FOR EACH ROW WHEN (OLD.lane = 'work' AND OLD.state = 'running')
    EXECUTE FUNCTION agent_follow_activations();
SELECT agent_keep_priority(array_agg(id)) FROM dialogue_agent;
"""
DROP = """
DROP TRIGGER agent_wakes ON dialogue_activation;
DROP TRIGGER agent_wakes_or_sleeps ON dialogue_activation;
DROP TRIGGER agent_sleeps ON dialogue_activation;
DROP FUNCTION agent_follow_activations;
"""
RECOUNT = "SELECT agent_keep_priority(array_agg(id)) FROM dialogue_agent;"


def keep(and_not_awake: str) -> str:
    return KEEP.replace("{and_not_awake}", and_not_awake)


class Migration(migrations.Migration):
    dependencies = [("dialogue", "0011_reports")]

    operations = [
        migrations.RunSQL(AWAKE, "DROP FUNCTION agent_is_awake;"),
        migrations.RunSQL(keep(" AND NOT agent_is_awake(id)"), keep("") + RECOUNT),
        migrations.RunSQL(FOLLOW, DROP),
        # In the whole order, so that one agent is found without a sort.
        migrations.RemoveIndex(model_name="agent", name="agent_priority"),
        migrations.AddIndex(
            model_name="agent",
            index=models.Index(
                fields=["priority_at", "id"],
                condition=models.Q(("priority_at__isnull", False)),
                name="agent_priority",
            ),
        ),
    ]
