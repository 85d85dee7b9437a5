"""Notices may hold reports of agents; drafts of agents are counted by the time they were made."""

from django.db import migrations, models

REASONS = [
    ("waits", "Needs a decision"), ("expires", "Expires"), ("down", "Down"), ("back", "Recovered"),
    ("paused", "Paused"), ("house", "Instance"), ("sign_in", "Sign-in"), ("report", "Agent report"),
]


class Migration(migrations.Migration):

    dependencies = [
        ("surfaces", "0012_hub_mentions"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="notice", name="notice_reason_is_known"),
        migrations.AlterField(
            model_name="notice",
            name="reason",
            field=models.CharField(choices=REASONS, max_length=8),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(reason__in=[name for name, _ in REASONS]),
                name="notice_reason_is_known",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                fields=["made_at"], condition=~models.Q(agent=""), name="draft_agent_made"
            ),
        ),
    ]
