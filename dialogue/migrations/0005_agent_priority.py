"""Keep what agents are chosen by, in the transactions that move notifications."""

from django.db import migrations, models

# The time of day of an agent. A server that does not know its time zone has UTC.
LOCAL_TIME = """
CREATE FUNCTION agent_local_time(zone text, at timestamptz) RETURNS time
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (at AT TIME ZONE zone)::time;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN (at AT TIME ZONE 'UTC')::time;
END $$;
"""
DROP_LOCAL_TIME = "DROP FUNCTION agent_local_time;"

# `unread` is counted on by what changed, or anew without `the_changes`; the other columns are the
# ends of two indexes. Agents are locked in the order of their ids, and read after that, so that
# what another transaction committed meanwhile is counted.
KEEP = """
CREATE FUNCTION agent_keep_priority(
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
            CASE WHEN due_at IS NOT NULL
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

CREATE FUNCTION agent_follow_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    the_agents bigint[];
    the_changes bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(agent_id), array_agg(change) INTO the_agents, the_changes FROM (
            SELECT agent_id, count(*) AS change FROM came WHERE read_at IS NULL GROUP BY agent_id
        ) AS moved;
    ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(agent_id), array_agg(change) INTO the_agents, the_changes FROM (
            SELECT agent_id, -count(*) AS change FROM gone WHERE read_at IS NULL GROUP BY agent_id
        ) AS moved;
    ELSE
        SELECT array_agg(agent_id), array_agg(change) INTO the_agents, the_changes FROM (
            SELECT agent_id, sum(way)::bigint AS change FROM (
                SELECT agent_id, -1 AS way FROM (
                    SELECT id, agent_id, look_at, made_at FROM gone WHERE read_at IS NULL
                    EXCEPT
                    SELECT id, agent_id, look_at, made_at FROM came WHERE read_at IS NULL
                ) AS before
                UNION ALL
                SELECT agent_id, 1 FROM (
                    SELECT id, agent_id, look_at, made_at FROM came WHERE read_at IS NULL
                    EXCEPT
                    SELECT id, agent_id, look_at, made_at FROM gone WHERE read_at IS NULL
                ) AS after
            ) AS rows GROUP BY agent_id
        ) AS moved;
    END IF;
    IF the_agents IS NOT NULL THEN
        PERFORM agent_keep_priority(the_agents, the_changes);
    END IF;
    RETURN NULL;
END $$;

SELECT agent_keep_priority(array_agg(id)) FROM dialogue_agent;

CREATE TRIGGER agent_new_notifications AFTER INSERT ON dialogue_notification
    REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION agent_follow_notifications();
CREATE TRIGGER agent_changed_notifications AFTER UPDATE ON dialogue_notification
    REFERENCING OLD TABLE AS gone NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION agent_follow_notifications();
CREATE TRIGGER agent_gone_notifications AFTER DELETE ON dialogue_notification
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION agent_follow_notifications();
"""
DROP_KEEP = """
DROP TRIGGER agent_new_notifications ON dialogue_notification;
DROP TRIGGER agent_changed_notifications ON dialogue_notification;
DROP TRIGGER agent_gone_notifications ON dialogue_notification;
DROP FUNCTION agent_follow_notifications, agent_keep_priority;
"""

# When exploration of an agent is due, kept in the rows of agents so that one index serves.
EXPLORES = """
CREATE FUNCTION agent_explores_at(the_agent bigint, since timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN explores AND is_autonomous THEN CASE
        WHEN since IS NULL THEN timestamptz '2000-01-01 00:00+00'
        ELSE since + CASE explore_frequency
            WHEN 'hourly' THEN interval '1 hour'
            WHEN 'daily' THEN interval '24 hours'
            ELSE stale_minutes * interval '1 minute' END
        END END
    FROM dialogue_agentsettings WHERE agent_id = the_agent
$$;

CREATE FUNCTION agent_follow_activation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.explores_at := agent_explores_at(NEW.id, NEW.last_activated_at);
    RETURN NEW;
END $$;
CREATE TRIGGER agent_was_activated BEFORE UPDATE OF last_activated_at ON dialogue_agent
    FOR EACH ROW EXECUTE FUNCTION agent_follow_activation();

CREATE FUNCTION agent_follow_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dialogue_agent SET explores_at = agent_explores_at(id, last_activated_at)
    WHERE id = NEW.agent_id
        AND explores_at IS DISTINCT FROM agent_explores_at(id, last_activated_at);
    RETURN NULL;
END $$;
CREATE TRIGGER agent_new_settings AFTER INSERT ON dialogue_agentsettings
    FOR EACH ROW WHEN (NEW.explores) EXECUTE FUNCTION agent_follow_settings();
CREATE TRIGGER agent_changed_settings AFTER UPDATE OF
    explores, is_autonomous, explore_frequency, stale_minutes ON dialogue_agentsettings
    FOR EACH ROW WHEN (OLD.explores OR NEW.explores) EXECUTE FUNCTION agent_follow_settings();

UPDATE dialogue_agent SET explores_at = agent_explores_at(id, last_activated_at);
"""
DROP_EXPLORES = """
DROP TRIGGER agent_changed_settings ON dialogue_agentsettings;
DROP TRIGGER agent_new_settings ON dialogue_agentsettings;
DROP TRIGGER agent_was_activated ON dialogue_agent;
DROP FUNCTION agent_follow_settings, agent_follow_activation, agent_explores_at;
"""


class Migration(migrations.Migration):
    dependencies = [("dialogue", "0004_activations")]

    operations = [
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("read_at", None)),
                fields=["agent", "look_at"],
                name="notification_next",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("read_at", None)),
                fields=["agent", "made_at"],
                name="notification_oldest",
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="explores_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.RemoveIndex(model_name="agent", name="agent_stalest"),
        migrations.AddIndex(
            model_name="agent",
            index=models.Index(
                models.OrderBy(models.F("last_activated_at"), nulls_first=True),
                models.F("id"),
                condition=models.Q(("explores_at__isnull", False)),
                name="agent_stalest",
            ),
        ),
        migrations.RunSQL(LOCAL_TIME, DROP_LOCAL_TIME),
        migrations.RunSQL(KEEP, DROP_KEEP),
        migrations.RunSQL(EXPLORES, DROP_EXPLORES),
    ]
