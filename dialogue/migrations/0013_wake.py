"""An activation that begins only empties `Agent.priority_at`: nothing else has changed."""

from django.db import migrations

WAKE = """
CREATE FUNCTION agent_wake() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dialogue_agent SET priority_at = NULL
    WHERE id = NEW.agent_id AND priority_at IS NOT NULL;
    RETURN NULL;
END $$;
DROP TRIGGER agent_wakes ON dialogue_activation;
CREATE TRIGGER agent_wakes AFTER INSERT ON dialogue_activation
    FOR EACH ROW WHEN (NEW.lane = 'work' AND NEW.state = 'running')
    EXECUTE FUNCTION agent_wake();
"""
FOLLOW = """
DROP TRIGGER agent_wakes ON dialogue_activation;
CREATE TRIGGER agent_wakes AFTER INSERT ON dialogue_activation
    FOR EACH ROW WHEN (NEW.lane = 'work' AND NEW.state = 'running')
    EXECUTE FUNCTION agent_follow_activations();
DROP FUNCTION agent_wake;
"""


class Migration(migrations.Migration):
    dependencies = [("dialogue", "0012_awake")]

    operations = [migrations.RunSQL(WAKE, FOLLOW)]
