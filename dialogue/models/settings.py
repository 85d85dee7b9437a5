"""How one agent behaves, and what it may cost. Every default is a cautious one."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from dialogue.errors import VoiceMisset
from dialogue.models.agent import Agent
from surfaces import sealing
from surfaces.models.account import Mode


class VoiceKind(models.TextChoices):
    SCRIPTED = "scripted", "Scripted: a template, no model"
    MODEL = "model", "Model: a language model writes"


class OutputStyle(models.TextChoices):
    TOOL = "tool", "Tool call"
    NATIVE = "native", "JSON schema"
    PROMPTED = "prompted", "Asked for in words"


def _between(low: float, high: float) -> list[Any]:
    return [MinValueValidator(low), MaxValueValidator(high)]


def _words() -> ArrayField[Any, Any]:
    return ArrayField(models.CharField(max_length=120), default=list, blank=True, size=100)


class AgentSettings(models.Model):
    agent = models.OneToOneField(Agent, models.CASCADE, related_name="settings")

    # Whether and how it speaks
    is_autonomous = models.BooleanField(
        "answers by itself", default=False, help_text="Off: it writes nothing unasked."
    )
    mode = models.CharField(max_length=8, choices=Mode, default=Mode.REVIEW)
    replies_per_day = models.PositiveSmallIntegerField(default=20, validators=_between(0, 500))
    replies_per_thread = models.PositiveSmallIntegerField(default=3, validators=_between(1, 50))
    spacing_seconds = models.PositiveIntegerField(default=60, validators=_between(0, 86_400))
    tries = models.PositiveSmallIntegerField(
        "tries per comment", default=10, validators=_between(1, 10)
    )
    longest_reply = models.PositiveIntegerField(default=1_200, validators=_between(80, 10_000))
    oldest_days = models.PositiveSmallIntegerField(
        "oldest comment answered",
        default=0,
        validators=_between(0, 3650),
        help_text="Older ones are passed. 0: whatever their age.",
    )
    answers_runs_once = models.BooleanField(
        "one answer to a run",
        default=False,
        help_text="A run of comments by one author under one parent gets one answer.",
    )
    lays_stones = models.BooleanField(default=False, help_text="It writes posts by itself.")

    # Who writes the words
    voice = models.CharField(max_length=10, choices=VoiceKind, default=VoiceKind.SCRIPTED)
    temperature = models.FloatField(default=0.7, validators=_between(0, 2))
    output_tokens = models.PositiveIntegerField(default=1_000, validators=_between(64, 16_000))
    timeout_seconds = models.PositiveSmallIntegerField(default=60, validators=_between(5, 120))

    # What it may cost, in tokens and US dollars; a day and a month of UTC
    tokens_per_day = models.PositiveIntegerField(
        default=200_000, validators=_between(0, 100_000_000)
    )
    tokens_per_month = models.PositiveBigIntegerField(
        default=3_000_000, validators=_between(0, 2_000_000_000)
    )
    money_per_day = models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal("1"), validators=_between(0, 10_000)
    )
    money_per_month = models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal("10"), validators=_between(0, 100_000)
    )
    # For a model whose price nobody knows, per million tokens.
    price_in = models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal("5"), validators=_between(0, 1_000)
    )
    price_out = models.DecimalField(
        max_digits=10, decimal_places=4, default=Decimal("20"), validators=_between(0, 1_000)
    )

    # What it cares for
    topics = _words()
    communities = _words()
    keywords = _words()
    follows = _words()

    class Meta:
        verbose_name_plural = "agent settings"
        constraints = [
            models.CheckConstraint(
                name="agent_settings_mode_is_known", condition=Q(mode__in=Mode.values)
            ),
            models.CheckConstraint(
                name="agent_settings_tries_1_to_10", condition=Q(tries__range=(1, 10))
            ),
            models.CheckConstraint(
                name="agent_settings_voice_is_known", condition=Q(voice__in=VoiceKind.values)
            ),
            models.CheckConstraint(
                name="agent_settings_day_within_month",
                condition=Q(money_per_day__lte=models.F("money_per_month"))
                & Q(tokens_per_day__lte=models.F("tokens_per_month")),
                violation_error_message="A day's budget is larger than the month's.",
            ),
        ]

    def __str__(self) -> str:
        return f"settings of {self.agent}"

    @property
    def spacing(self) -> timedelta:
        return timedelta(seconds=self.spacing_seconds)


class Brain(models.Model):
    """A model the voice may ask. The first by rank is asked first, the others when it fails."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="brains")
    rank = models.PositiveSmallIntegerField(default=0)
    model = models.CharField(
        max_length=200, help_text="provider:name, e.g. anthropic:claude-sonnet-4-5."
    )
    base_url = models.CharField(
        max_length=300, blank=True, help_text="Empty: the provider's own address."
    )
    sealed_key = models.BinaryField(default=b"", editable=False)
    output_style = models.CharField(max_length=8, choices=OutputStyle, default=OutputStyle.TOOL)
    streams = models.BooleanField(default=False, help_text="Read the answer as it is written.")

    class Meta:
        ordering = ["agent", "rank"]
        constraints = [
            models.UniqueConstraint(name="brain_one_per_rank", fields=["agent", "rank"]),
            models.CheckConstraint(
                name="brain_output_style_is_known",
                condition=Q(output_style__in=OutputStyle.values),
            ),
        ]

    def __str__(self) -> str:
        return self.model

    @property
    def key(self) -> str:
        """The provider's key in the clear. Hand it to the voice, and to nothing else."""
        try:
            return sealing.opened(self.sealed_key)
        except sealing.InvalidToken as error:
            raise VoiceMisset(
                f"The key of {self.model} cannot be opened. Enter it again."
            ) from error


def check_model_name(name: str) -> None:
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise ValidationError("Write provider:name, e.g. anthropic:claude-sonnet-4-5.")


class HouseBudget(models.Model):
    """What all agents together may cost; one row."""

    tokens_per_day = models.PositiveIntegerField(default=1_000_000)
    tokens_per_month = models.PositiveBigIntegerField(default=15_000_000)
    money_per_day = models.DecimalField(max_digits=10, decimal_places=4, default=Decimal("5"))
    money_per_month = models.DecimalField(max_digits=10, decimal_places=4, default=Decimal("50"))

    class Meta:
        constraints = [models.CheckConstraint(name="house_budget_is_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return "what all agents may cost"

    @classmethod
    def current(cls) -> HouseBudget:
        return cls.objects.get_or_create(pk=1)[0]
