"""A persona that decides what to say.

Whether it is paused is a `Pause` of the ground floor: delivery asks there in the moment
of sending, and one fact has one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import models
from django.db.models import F, Q


def known_timezone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(f"{name!r} is no time zone. Enter one like Europe/Berlin or UTC.")


class Lives(models.TextChoices):
    HERE = "here", "Here: a voice of ours writes"
    ELSEWHERE = "elsewhere", "Elsewhere: it is woken and writes by itself"


class Agent(models.Model):
    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=80)
    persona = models.TextField(blank=True, help_text="Who it is and how it speaks.")
    lives = models.CharField(max_length=10, choices=Lives, default=Lives.HERE)
    timezone = models.CharField(max_length=64, default="UTC", validators=[known_timezone])
    active_from = models.TimeField(null=True, blank=True, help_text="Empty: at any hour.")
    active_to = models.TimeField(null=True, blank=True)

    failures = models.PositiveIntegerField(default=0, help_text="Failed wakings in a row.")
    backs_off_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveBigIntegerField(default=0)  # fencing: grows with every waking
    # What an imported config.yaml says of floors above this one; given back on export.
    carried = models.JSONField(default=dict, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                name="agent_lives_somewhere", condition=Q(lives__in=Lives.values)
            ),
            models.CheckConstraint(
                name="agent_hours_have_both_ends",
                condition=Q(active_from=None, active_to=None)
                | Q(active_from__isnull=False, active_to__isnull=False),
                violation_error_message="Give both ends of the active hours, or none.",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.slug

    @property
    def ledger_name(self) -> str:
        """As pauses name it, too, so that its ledger is one."""
        return f"agent:{self.slug}"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def next_claim(self) -> int:
        """Count one more waking, and return its fencing number. Call it in the claim."""
        Agent.objects.filter(pk=self.pk).update(claims=F("claims") + 1)
        self.refresh_from_db(fields=["claims"])
        return self.claims

    def note(self, **facts: Any) -> None:
        """Write facts down, only these columns."""
        Agent.objects.filter(pk=self.pk).update(**facts)
        for name, value in facts.items():
            setattr(self, name, value)


class Kernel(models.Model):
    """A thought that a stone can grow from, tied to no thread."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="kernels")
    words = models.CharField(max_length=1000)
    is_on = models.BooleanField(default=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    used = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(name="kernel_once_per_agent", fields=["agent", "words"])
        ]

    def __str__(self) -> str:
        return self.words[:80]

    @classmethod
    def keep(cls, agent: Agent, lines: Iterable[str], *, now: datetime) -> None:
        """Make the agent's list exactly `lines`; those that stay keep their last use."""
        wanted = list(dict.fromkeys(line.strip()[:1000] for line in lines if line.strip()))
        rows = cls.objects.filter(agent=agent)
        rows.exclude(words__in=wanted).update(is_on=False)
        rows.filter(words__in=wanted).update(is_on=True)
        known = set(rows.filter(words__in=wanted).values_list("words", flat=True))
        Kernel.objects.bulk_create([cls(agent=agent, words=w) for w in wanted if w not in known])
