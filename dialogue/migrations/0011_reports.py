"""Reports stand by account, and what they count is found by its time."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("dialogue", "0010_live_steps"),
        ("surfaces", "0013_reports"),
    ]

    operations = [
        # They are counted again.
        migrations.RunSQL("DELETE FROM dialogue_agentreport", migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name="agentreport", name="agent_report_once"),
        migrations.AddField(
            model_name="agentreport",
            name="account",
            field=models.ForeignKey(
                db_index=False, default=0, on_delete=models.CASCADE, related_name="+",
                to="surfaces.account",
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="agentreport",
            constraint=models.UniqueConstraint(
                fields=["agent", "hour", "account"], name="agent_report_once"
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["made_at"], name="notification_made"),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                fields=["considered_at"],
                condition=models.Q(("outcome", "passed"), ("verdict", "suspect"), _connector="OR"),
                name="notification_held_at",
            ),
        ),
        migrations.AddIndex(
            model_name="activationitem",
            index=models.Index(
                fields=["ended_at"], condition=models.Q(state="failed"), name="activation_item_failed"
            ),
        ),
        migrations.AddIndex(
            model_name="activation",
            index=models.Index(
                fields=["ended_at"], condition=models.Q(state="failed"), name="activation_failed"
            ),
        ),
    ]
