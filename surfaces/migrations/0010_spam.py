import django.contrib.postgres.fields
from django.db import migrations, models
from django.db.models import F, Q

# What the filter had gone by: its reasons are not rewritten once a person has spoken.
REMEMBER_SIGNS = """
UPDATE surfaces_spamdecision d SET signs = ARRAY(
    SELECT DISTINCT left(reason->>0, 20) AS sign
    FROM messages m, jsonb_array_elements(m.spam_reasons) reason
    WHERE m.id = d.message_id AND jsonb_typeof(m.spam_reasons) = 'array'
        AND reason->>0 IS NOT NULL
    ORDER BY sign
)
"""


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0009_settings")]

    operations = [
        migrations.AddField(
            model_name="spamdecision",
            name="signs",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20), default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="spamtoken",
            name="is_forgotten",
            field=models.BooleanField(db_default=False, default=False),
        ),
        # For the page of learned words, any page of it.
        migrations.AddIndex(
            model_name="spamtoken",
            index=models.Index(
                (F("in_spam") + F("in_clean")).desc(), F("token"), name="spam_token_seen"
            ),
        ),
        # For the words that speak loudest for one side.
        migrations.AddIndex(
            model_name="spamtoken",
            index=models.Index(
                (F("in_spam") - 3 * F("in_clean")).desc(),
                F("token"),
                name="spam_token_for_spam",
                condition=Q(in_spam__gte=2),
            ),
        ),
        migrations.AddIndex(
            model_name="spamtoken",
            index=models.Index(
                (F("in_clean") - 3 * F("in_spam")).desc(),
                F("token"),
                name="spam_token_for_clean",
                condition=Q(in_clean__gte=2),
            ),
        ),
        # For what other thresholds would make of what was read lately.
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["-seen_at"], name="message_scored", condition=Q(spam_score__gte=0.1)
            ),
        ),
        migrations.RunSQL(REMEMBER_SIGNS, migrations.RunSQL.noop),
    ]
