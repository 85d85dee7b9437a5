"""Settings of an agent: behavior, voice and budgets. The defaults are cautious."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from dialogue.agents.models.agent import Agent
from surfaces.accounts.models.account import ReplyMode
from surfaces.model_fields import between, check


class VoiceKind(models.TextChoices):
    SCRIPTED = "scripted", _("Scripted: a template, no model")
    MODEL = "model", _("Model: a language model writes")


class OutputStyle(models.TextChoices):
    TOOL = "tool", _("Tool call")
    NATIVE = "native", _("JSON schema")
    PROMPTED = "prompted", _("Prompted")


def dollars(usual: int, *, most: int) -> models.DecimalField[Any, Any]:
    return models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal(usual), validators=between(0, most)
    )


def _words() -> ArrayField[Any, Any]:
    return ArrayField(models.CharField(max_length=120), default=list, blank=True, size=100)


DAY_WITHIN_MONTH = Q(money_per_day__lte=F("money_per_month")) & Q(
    tokens_per_day__lte=F("tokens_per_month")
)


class AgentSettings(models.Model):
    agent = models.OneToOneField(Agent, models.CASCADE, related_name="settings")

    # Replies
    is_autonomous = models.BooleanField(
        "answers by itself", default=False, help_text="Off: it writes nothing unasked."
    )
    mode = models.CharField(max_length=8, choices=ReplyMode, default=ReplyMode.REVIEW)
    replies_per_day = models.PositiveSmallIntegerField(default=20, validators=between(0, 500))
    replies_per_thread = models.PositiveSmallIntegerField(default=3, validators=between(1, 50))
    spacing_seconds = models.PositiveIntegerField(default=60, validators=between(0, 86_400))
    tries = models.PositiveSmallIntegerField(
        "tries per comment", default=10, validators=between(1, 10)
    )
    longest_reply = models.PositiveIntegerField(default=1_200, validators=between(80, 10_000))
    oldest_days = models.PositiveSmallIntegerField(
        "oldest comment answered",
        default=0,
        validators=between(0, 3650),
        help_text="Older ones are passed. 0: whatever their age.",
    )
    answers_runs_once = models.BooleanField(
        "one answer to a run",
        default=False,
        help_text="A run of comments by one author under one parent gets one answer.",
    )
    lays_stones = models.BooleanField(default=False, help_text="It writes posts by itself.")

    # Voice
    voice = models.CharField(max_length=10, choices=VoiceKind, default=VoiceKind.SCRIPTED)
    temperature = models.FloatField(default=0.7, validators=between(0, 2))
    output_tokens = models.PositiveIntegerField(default=1_000, validators=between(64, 16_000))
    timeout_seconds = models.PositiveSmallIntegerField(default=60, validators=between(5, 120))

    # Budgets in tokens and US dollars, per UTC day and month
    tokens_per_day = models.PositiveIntegerField(
        default=200_000, validators=between(0, 100_000_000)
    )
    tokens_per_month = models.PositiveBigIntegerField(
        default=3_000_000, validators=between(0, 2_000_000_000)
    )
    money_per_day = dollars(1, most=10_000)
    money_per_month = dollars(10, most=100_000)
    # Fallback prices per million tokens, for models without a known price.
    price_in = dollars(5, most=1_000)
    price_out = dollars(20, most=1_000)

    # Interests; not used by any rule yet
    topics = _words()
    communities = _words()
    keywords = _words()
    follows = _words()

    class Meta:
        verbose_name_plural = "agent settings"
        constraints = [
            check("agent_settings_mode_is_known", mode__in=ReplyMode.values),
            check("agent_settings_tries_1_to_10", tries__range=(1, 10)),
            check("agent_settings_voice_is_known", voice__in=VoiceKind.values),
            models.CheckConstraint(
                name="agent_settings_day_within_month",
                condition=DAY_WITHIN_MONTH,
                violation_error_message=_("The daily budget is larger than the monthly budget."),
            ),
        ]

    def __str__(self) -> str:
        return f"settings of {self.agent}"

    @property
    def spacing(self) -> timedelta:
        return timedelta(seconds=self.spacing_seconds)
