"""How long a service may take to store a request, and which drafts wait for that."""

import django.core.validators
from django.db import migrations, models

# Requests in doubt at this moment: sent without an answer, found absent twice, or redirected.
# When they were made at the latest is not known, so they count as made now.
FILL = """
UPDATE surfaces_draft
SET unconfirmed_since = COALESCE(asked_at, made_at), unconfirmed_until = now()
WHERE challenge IS NULL AND (state = 'unknown'
    OR (state = 'approved' AND why ->> 'code' = 'look.absent_twice')
    OR (state = 'failed' AND why ->> 'code' = 'service.redirect'))
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0004_documents_nulls")]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="settled_absent",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="draft",
            name="unconfirmed_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="draft",
            name="unconfirmed_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="surface",
            name="longest_delay_seconds",
            field=models.PositiveIntegerField(
                default=600,
                help_text="The service may store a request this long after it was made.",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(86400),
                ],
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
