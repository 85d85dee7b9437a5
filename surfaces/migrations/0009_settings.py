import django.core.validators
from django.db import migrations, models

import surfaces.models.house


class Migration(migrations.Migration):
    dependencies = [("surfaces", "0008_notices")]

    operations = [
        migrations.CreateModel(
            name="House",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        default="Colloquy",
                        max_length=80,
                        validators=[surfaces.models.house.check_house_name],
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[("en", "English"), ("zh-hans", "简体中文")],
                        default="en",
                        max_length=10,
                    ),
                ),
                (
                    "undo_seconds",
                    models.PositiveSmallIntegerField(
                        default=10,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                (
                    "drafts_wait_hours",
                    models.PositiveSmallIntegerField(
                        default=0,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(720),
                        ],
                    ),
                ),
                (
                    "suspect_from",
                    models.FloatField(
                        default=0.4,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "spam_from",
                    models.FloatField(
                        default=0.9,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                ("updated_at", models.DateTimeField(blank=True, null=True)),
                ("updated_by", models.CharField(blank=True, max_length=120)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(name="house_is_one_row", condition=models.Q(("id", 1))),
                    models.CheckConstraint(
                        name="house_language_is_known",
                        condition=models.Q(("language__in", ["en", "zh-hans"])),
                    ),
                    models.CheckConstraint(
                        name="house_undo_0_to_60_seconds",
                        condition=models.Q(("undo_seconds__range", (0, 60))),
                    ),
                    models.CheckConstraint(
                        name="house_drafts_wait_0_to_720_hours",
                        condition=models.Q(("drafts_wait_hours__range", (0, 720))),
                    ),
                    models.CheckConstraint(
                        name="house_suspect_below_spam",
                        condition=models.Q(
                            ("spam_from__lte", 1),
                            ("suspect_from__gt", 0),
                            ("suspect_from__lt", models.F("spam_from")),
                        ),
                        violation_error_message="Suspect must begin below spam: 0 < suspect < spam ≤ 1.",
                    ),
                ],
            },
        ),
    ]
