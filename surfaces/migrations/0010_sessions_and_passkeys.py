"""Sessions linked to operators, passkeys, known browsers, required second factors."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


# Who is signed in stays so. The operator is written when the session is seen next.
COPY = """
INSERT INTO surfaces_operatorsession (session_key, session_data, expire_date, browser, network)
SELECT session_key, session_data, expire_date, '', '' FROM django_session
WHERE expire_date > now();
DELETE FROM django_session;
"""
# A session that ends is announced to open pages: its streams are closed.
ANNOUNCE = """
CREATE TRIGGER live_session AFTER DELETE ON surfaces_operatorsession
    FOR EACH ROW WHEN (OLD.operator_id IS NOT NULL) EXECUTE FUNCTION colloquy_notify('session');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("surfaces", "0009_limited"),
        ("sessions", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="KnownBrowser",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("browser", models.CharField(max_length=80)),
                ("network", models.CharField(max_length=43)),
                ("is_first", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-seen_at"],
            },
        ),
        migrations.CreateModel(
            name="OperatorSession",
            fields=[
                (
                    "session_key",
                    models.CharField(
                        max_length=40, primary_key=True, serialize=False, verbose_name="session key"
                    ),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("browser", models.CharField(blank=True, max_length=80)),
                ("network", models.CharField(blank=True, max_length=43)),
                (
                    "made_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "seen_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Passkey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("credential_id", models.BinaryField(max_length=1023, unique=True)),
                ("public_key", models.BinaryField()),
                ("sign_count", models.BigIntegerField(default=0, editable=False)),
                ("made_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="notice",
            name="notice_reason_is_known",
        ),
        migrations.AddField(
            model_name="instancesettings",
            name="two_factor_admins",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="instancesettings",
            name="two_factor_moderators",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="instancesettings",
            name="two_factor_viewers",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="noticerule",
            name="hears_sign_ins",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="signinattempt",
            name="origin",
            field=models.CharField(blank=True, max_length=72),
        ),
        migrations.AlterField(
            model_name="notice",
            name="reason",
            field=models.CharField(
                choices=[
                    ("waits", "Needs a decision"),
                    ("expires", "Expires"),
                    ("down", "Down"),
                    ("back", "Recovered"),
                    ("paused", "Paused"),
                    ("house", "Instance"),
                    ("sign_in", "Sign-in"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddIndex(
            model_name="signinattempt",
            index=models.Index(fields=["username", "origin", "-at"], name="sign_in_name"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "reason__in",
                        ["waits", "expires", "down", "back", "paused", "house", "sign_in"],
                    )
                ),
                name="notice_reason_is_known",
            ),
        ),
        migrations.AddField(
            model_name="knownbrowser",
            name="operator",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="known_browsers",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="operatorsession",
            name="operator",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sessions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="passkey",
            name="operator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="passkeys",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="knownbrowser",
            index=models.Index(fields=["operator", "network"], name="known_browser_network"),
        ),
        migrations.AddIndex(
            model_name="knownbrowser",
            index=models.Index(fields=["made_at"], name="known_browser_made"),
        ),
        migrations.AddIndex(
            model_name="knownbrowser",
            index=models.Index(fields=["seen_at"], name="known_browser_seen"),
        ),
        migrations.AddConstraint(
            model_name="knownbrowser",
            constraint=models.UniqueConstraint(
                fields=("operator", "digest", "network"), name="known_browser_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="passkey",
            constraint=models.UniqueConstraint(
                fields=("operator", "name"), name="passkey_name_once"
            ),
        ),
        migrations.RunSQL(ANNOUNCE, "DROP TRIGGER live_session ON surfaces_operatorsession"),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
    ]
