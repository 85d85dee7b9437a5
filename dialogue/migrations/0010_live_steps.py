"""Tell open pages of each step of an activation: it renews the lease."""

from django.db import migrations

TELL = """
CREATE TRIGGER live_activation_step AFTER UPDATE OF lease_until ON dialogue_activation
    FOR EACH ROW WHEN (NEW.lease_until IS DISTINCT FROM OLD.lease_until)
    EXECUTE FUNCTION colloquy_notify('activations');
"""
TELL_NO_MORE = "DROP TRIGGER live_activation_step ON dialogue_activation;"


class Migration(migrations.Migration):
    dependencies = [
        ("dialogue", "0009_carried_to_columns"),
        ("surfaces", "0002_triggers"),
    ]

    operations = [migrations.RunSQL(TELL, TELL_NO_MORE)]
