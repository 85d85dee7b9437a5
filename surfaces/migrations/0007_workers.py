"""Workers and their signs of life; and what home asks of a day, answered from indexes."""

from django.db import migrations, models

KINDS = [
    ("web", "Web"),
    ("watcher", "Watcher"),
    ("sender", "Sender"),
    ("replier", "Replier"),
    ("tasks", "Tasks"),
]


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0006_live")]

    operations = [
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=KINDS, max_length=8)),
                (
                    "name",
                    models.CharField(help_text="For people, e.g. watcher.", max_length=60),
                ),
                ("host", models.CharField(max_length=60)),
                ("pid", models.PositiveIntegerField()),
                ("started_at", models.DateTimeField()),
                ("beat_at", models.DateTimeField()),
                (
                    "doing",
                    models.CharField(
                        blank=True, help_text="Empty: it waits for work.", max_length=120
                    ),
                ),
                ("doing_since", models.DateTimeField(blank=True, null=True)),
            ],
            options={"db_table": "workers", "ordering": ["kind", "host", "pid"]},
        ),
        # A sign of life is upserted by it.
        migrations.AddConstraint(
            model_name="worker",
            constraint=models.UniqueConstraint(fields=("kind", "host", "pid"), name="worker_once"),
        ),
        migrations.AddConstraint(
            model_name="worker",
            constraint=models.CheckConstraint(
                condition=models.Q(kind__in=[kind for kind, _ in KINDS]),
                name="worker_kind_is_known",
            ),
        ),
        migrations.AddField(
            model_name="operator",
            name="first_run_is_over",
            field=models.BooleanField(
                default=False, help_text="Put the list of first steps away."
            ),
        ),
        # Home: what was sent and what was held since midnight, by hour.
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(state="sent"),
                fields=["sent_at"],
                include=("agent", "account"),
                name="draft_sent_at",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(state="shadowed"), fields=["made_at"], name="draft_shadowed"
            ),
        ),
        # Home: what a day brought, by account and hour.
        migrations.AddIndex(
            model_name="watchround",
            index=models.Index(
                fields=["account", "started_at"],
                include=("stored", "spam"),
                name="watch_round_day",
            ),
        ),
    ]
