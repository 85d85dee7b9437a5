import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def agents():
    return django.contrib.postgres.fields.ArrayField(
        base_field=models.CharField(max_length=64), blank=True, default=list, size=None
    )


def surfaces():
    return models.ManyToManyField(blank=True, related_name="+", to="surfaces.surface")


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0004_desk")]

    operations = [
        # Limits, and the language of the pages.
        migrations.AddField("operator", "surfaces", surfaces()),
        migrations.AddField("operator", "agents", agents()),
        migrations.AddField(
            "operator",
            "language",
            models.CharField(
                blank=True,
                choices=[("", "As the browser asks"), ("en", "English"), ("zh-hans", "简体中文")],
                default="",
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            "operator",
            models.CheckConstraint(
                condition=Q(("language__in", ["", "en", "zh-hans"])),
                name="operator_language_is_known",
            ),
        ),
        # Signing in: a password that was handed over, a second factor, out everywhere.
        migrations.AddField(
            "operator",
            "owes_password",
            models.BooleanField(
                default=False,
                help_text="Was handed a password; nothing opens before it is changed.",
            ),
        ),
        migrations.AddField(
            "operator", "sign_outs", models.PositiveIntegerField(default=0, editable=False)
        ),
        migrations.AddField("operator", "sealed_totp", models.BinaryField(default=b"")),
        migrations.AddField(
            "operator",
            "totp_since",
            models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            "operator", "totp_step", models.BigIntegerField(default=0, editable=False)
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "operator",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recovery_codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.AddConstraint(
            "recoverycode",
            # Also finds the code that was typed.
            models.UniqueConstraint(
                fields=("operator", "digest"), name="recovery_code_once_per_operator"
            ),
        ),
        # Keys for programs.
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                (
                    "prefix",
                    models.CharField(help_text="Its first letters, shown in lists.", max_length=8),
                ),
                ("digest", models.CharField(max_length=64)),
                ("agent", models.CharField(blank=True, max_length=64)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("read", "Read: sees what is within its limits"),
                            ("write", "Write: also decides, as far as its owner may"),
                        ],
                        default="read",
                        max_length=5,
                    ),
                ),
                ("agents", agents()),
                ("made_by", models.CharField(max_length=120)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "operator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="api_keys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("surfaces", surfaces()),
            ],
            options={"verbose_name": "API key", "ordering": ["-id"]},
        ),
        migrations.AddConstraint(
            "apikey",
            # Finds the key of a token.
            models.UniqueConstraint(fields=("prefix",), name="api_key_prefix_once"),
        ),
        migrations.AddConstraint(
            "apikey",
            models.CheckConstraint(
                condition=Q(("scope__in", ["read", "write"])), name="api_key_scope_is_known"
            ),
        ),
        migrations.AddConstraint(
            "apikey",
            models.CheckConstraint(
                condition=Q(
                    Q(("agent__gt", ""), ("operator", None)),
                    Q(("agent", ""), ("operator__isnull", False)),
                    _connector="OR",
                ),
                name="api_key_has_one_owner",
            ),
        ),
    ]
