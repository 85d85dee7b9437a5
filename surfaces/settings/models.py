"""What holds for everybody in this installation; one row."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _lazy

from surfaces.model_fields import CheckedCharField, between, check
from surfaces.text.format import REARRANGING

MOST_UNDO_SECONDS = 60
MOST_WAIT_HOURS = 720  # thirty days


class InstanceLanguage(models.TextChoices):
    ENGLISH = "en", _lazy("English")
    CHINESE = "zh-hans", _lazy("简体中文")


def check_instance_name(name: str) -> None:
    """It stands in titles and in the heads of mails: one line that shows."""
    if not name.strip() or not name.isprintable() or REARRANGING.search(name):
        raise ValidationError(_lazy("Enter one line of visible characters."))


class InstanceSettings(models.Model):
    name = CheckedCharField(max_length=80, default="Colloquy", validators=[check_instance_name])
    language = models.CharField(
        max_length=10, choices=InstanceLanguage, default=InstanceLanguage.ENGLISH
    )
    # 0: approved words leave at once.
    undo_seconds = models.PositiveSmallIntegerField(
        default=10, validators=between(0, MOST_UNDO_SECONDS)
    )
    # 0: waiting drafts never expire.
    drafts_wait_hours = models.PositiveSmallIntegerField(
        default=0, validators=between(0, MOST_WAIT_HOURS)
    )
    suspect_from = models.FloatField(default=0.4, validators=between(0, 1))
    spam_from = models.FloatField(default=0.9, validators=between(0, 1))
    # Whose role must have a second factor.
    two_factor_viewers = models.BooleanField(default=False)
    two_factor_moderators = models.BooleanField(default=False)
    two_factor_admins = models.BooleanField(default=False)
    updated_at = models.DateTimeField(null=True, blank=True)
    updated_by = models.CharField(max_length=120, blank=True)

    ledger_name = "house:settings"

    class Meta:
        constraints = [
            check("house_is_one_row", id=1),
            check("house_language_is_known", language__in=InstanceLanguage.values),
            check("house_undo_0_to_60_seconds", undo_seconds__range=(0, MOST_UNDO_SECONDS)),
            check(
                "house_drafts_wait_0_to_720_hours", drafts_wait_hours__range=(0, MOST_WAIT_HOURS)
            ),
            models.CheckConstraint(
                name="house_suspect_below_spam",
                condition=Q(suspect_from__gt=0, spam_from__lte=1)
                & Q(suspect_from__lt=F("spam_from")),
                violation_error_message=_lazy(
                    "Suspect must begin below spam: 0 < suspect < spam ≤ 1."
                ),
            ),
        ]

    def __str__(self) -> str:
        return str(self.name)

    @property
    def time_to_undo(self) -> timedelta:
        """How long approved words can be called back before they leave."""
        return timedelta(seconds=self.undo_seconds)

    def drafts_wait_until(self, now: datetime) -> datetime | None:
        """When a draft that begins to wait now expires; None: it waits for ever."""
        return now + timedelta(hours=self.drafts_wait_hours) if self.drafts_wait_hours else None
