"""Where reading stands: the place of a backfill, threads checked, requests by their time."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


# Requests of windows that are open count from now on: cautious, and over within their period.
KEEP_USED = """
UPDATE surfaces_ratelimitwindow SET taken = array_fill(now(), ARRAY[used::int])
WHERE used > 0 AND window_ends_at > now()
"""


class Migration(migrations.Migration):

    dependencies = [
        ("surfaces", "0005_late_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='thread_checked_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='ratelimitwindow',
            name='taken',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), default=list, size=None),
        ),
        migrations.RunSQL(KEEP_USED, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='ReadingPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField()),
                ('page', models.TextField(blank=True)),
                ('posts', models.PositiveIntegerField(default=0)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reading_place', to='surfaces.account')),
            ],
        ),
    ]
