"""Agent: a persona that writes replies and posts.

Whether it is paused is stored as a `Pause` in surfaces, where delivery checks it.
"""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import models
from django.db.models import CheckConstraint, F, Index, Q
from django.utils.translation import gettext_lazy as _lazy

from surfaces.audit.models import Owner
from surfaces.model_fields import CheckedCharField


def check_timezone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(
            _lazy("%(name)s is no time zone. Enter one like Europe/Berlin or UTC."),
            params={"name": repr(name)},
        )


class AgentLocation(models.TextChoices):
    HERE = "here", _lazy("This instance")
    ELSEWHERE = "elsewhere", _lazy("An external agent (webhook)")


class Agent(models.Model):
    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=80)
    persona = models.TextField(blank=True, help_text="The system prompt.")
    lives = models.CharField(max_length=10, choices=AgentLocation, default=AgentLocation.HERE)
    timezone = CheckedCharField(max_length=64, default="UTC", validators=[check_timezone])
    active_from = models.TimeField(null=True, blank=True, help_text="Empty: at any hour.")
    active_to = models.TimeField(null=True, blank=True)

    failures = models.PositiveIntegerField(default=0, help_text="Failed activations in a row.")
    backs_off_until = models.DateTimeField(null=True, blank=True)
    claims = models.PositiveBigIntegerField(default=0)  # fencing number of activations
    # Kept by triggers on notifications and activations, in the transaction that moves them: how
    # many are unread, when the first is due, and, where one is and the agent is not awake, the
    # order in which agents are chosen: oldest unread − 5 min × unread.
    unread = models.PositiveIntegerField(default=0, editable=False)
    due_at = models.DateTimeField(null=True, blank=True, editable=False)
    priority_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_activated_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Kept by triggers on it and its settings: when exploration is due. Empty: it does not explore.
    explores_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Keys of an imported config.yaml without a column; written again on export.
    carried = models.JSONField(default=dict, blank=True)
    # Of the demo, whose accounts are the only ones it speaks through; decided when it is made.
    is_demo = models.BooleanField(default=False, editable=False)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        indexes = [
            # For agents with notifications, most urgent first.
            Index(
                name="agent_priority",
                fields=["priority_at", "id"],
                condition=Q(priority_at__isnull=False),
            ),
            # For agents that were not activated for long, never activated first.
            Index(
                F("last_activated_at").asc(nulls_first=True),
                "id",
                name="agent_stalest",
                condition=Q(explores_at__isnull=False),
            ),
        ]
        constraints = [
            CheckConstraint(
                name="agent_lives_somewhere", condition=Q(lives__in=AgentLocation.values)
            ),
            CheckConstraint(
                name="agent_hours_have_both_ends",
                condition=Q(active_from=None, active_to=None)
                | Q(active_from__isnull=False, active_to__isnull=False),
                violation_error_message=_lazy("Enter both ends of the active hours, or neither."),
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.slug

    @property
    def ledger_name(self) -> str:
        """Subject in the audit log; pauses use the same name."""
        return f"agent:{self.slug}"

    @property
    def audit_owner(self) -> Owner:
        return None, self.slug

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def next_claim(self, *, now: datetime) -> int:
        """Increment and return the fencing number. Call it in the claiming transaction."""
        Agent.objects.filter(pk=self.pk).update(claims=F("claims") + 1, last_activated_at=now)
        self.refresh_from_db(fields=["claims", "last_activated_at"])
        return self.claims

    def note(self, **facts: Any) -> None:
        Agent.objects.filter(pk=self.pk).update(**facts)
        for name, value in facts.items():
            setattr(self, name, value)
