"""What a conversation showed the model; indexes of tool calls; open pages are told of activations."""

from django.db import migrations, models

# As in surfaces/0002: a payload names only what changed.
LIVE = """
CREATE TRIGGER live_activation AFTER INSERT ON dialogue_activation
    FOR EACH ROW EXECUTE FUNCTION colloquy_notify('activations');
CREATE TRIGGER live_activation_changed AFTER UPDATE OF state ON dialogue_activation
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION colloquy_notify('activations');
CREATE TRIGGER live_tool_call AFTER INSERT ON dialogue_toolcall
    FOR EACH ROW EXECUTE FUNCTION colloquy_notify('activations');
CREATE TRIGGER live_tool_call_changed AFTER UPDATE OF state ON dialogue_toolcall
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION colloquy_notify('activations');
"""
DROP_LIVE = """
DROP TRIGGER live_tool_call_changed ON dialogue_toolcall;
DROP TRIGGER live_tool_call ON dialogue_toolcall;
DROP TRIGGER live_activation_changed ON dialogue_activation;
DROP TRIGGER live_activation ON dialogue_activation;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('dialogue', '0006_runs'),
        ('surfaces', '0011_activations'),
    ]

    operations = [
        migrations.AddField(
            model_name='activationitem',
            name='shown',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name='toolcall',
            name='shown',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(condition=models.Q(('state', 'proposed')), fields=['id'], name='tool_call_proposed'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['digest'], name='tool_call_digest'),
        ),
        migrations.RunSQL(LIVE, DROP_LIVE),
    ]
