"""One waking of an agent: why, what was asked and answered, what it cost, what came of it.

running ──> done | failed | exhausted | released (we were told to stop)
   └──> abandoned: its worker died; whatever it writes later is refused
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

from django.db import models
from django.db.models import Q

from dialogue.errors import Overtaken
from dialogue.models.agent import Agent
from dialogue.models.notification import Notification
from dialogue.models.presence import Presence
from surfaces.models import Draft


class State(models.TextChoices):
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    EXHAUSTED = "exhausted", "Out of budget"
    RELEASED = "released", "Given back"
    ABANDONED = "abandoned", "Abandoned"


class Purpose(models.TextChoices):
    REPLY = "reply", "Reply"
    STONE = "stone", "Stone"


class ActivationQuerySet(models.QuerySet["Activation"]):
    def running(self) -> Self:
        return self.filter(state=State.RUNNING)


class Activation(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="activations", db_index=False)
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="activations")
    purpose = models.CharField(max_length=8, choices=Purpose)
    notification = models.ForeignKey(
        Notification, models.SET_NULL, null=True, blank=True, related_name="activations"
    )
    why = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    number = models.PositiveBigIntegerField()  # fencing: of its agent's claims
    worker = models.CharField(max_length=120)
    lease_until = models.DateTimeField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(blank=True, help_text="What came of it, for people.")
    draft = models.ForeignKey(
        Draft, models.SET_NULL, null=True, blank=True, related_name="activations"
    )

    voice = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))  # US dollars
    cost_is_guess = models.BooleanField(default=False)

    objects = ActivationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                name="activation_one_live_per_agent",
                fields=["agent"],
                condition=Q(state="running"),
            ),
            models.UniqueConstraint(
                name="activation_number_grows_once", fields=["agent", "number"]
            ),
            models.CheckConstraint(
                name="activation_state_is_known", condition=Q(state__in=State.values)
            ),
            models.CheckConstraint(
                name="activation_ended_says_what_came",
                condition=Q(state="running", ended_at=None)
                | (~Q(state="running") & Q(ended_at__isnull=False) & ~Q(outcome="")),
            ),
        ]
        indexes = [
            # For `running`.
            models.Index(
                name="activation_lease", fields=["lease_until"], condition=Q(state="running")
            ),
            # For the page of one agent, and of all.
            models.Index(name="activation_of_agent", fields=["agent", "-id"]),
        ]

    def __str__(self) -> str:
        return f"activation {self.pk}"

    @property
    def reason(self) -> Notification:
        """The notification it was woken for; every reply has one."""
        if self.notification is None:
            raise ValueError(f"activation {self.pk} was woken for no notification")
        return self.notification

    def mine(self) -> models.QuerySet[Activation]:
        """The row, as long as it is still ours to write."""
        return Activation.objects.filter(pk=self.pk, number=self.number, state=State.RUNNING)

    def note(self, **facts: Any) -> None:
        """Write facts down, or raise `Overtaken`: it was taken from us."""
        if not self.mine().update(**facts):
            raise Overtaken(f"activation {self.pk} was taken back")
        for name, value in facts.items():
            setattr(self, name, value)


class Step(models.Model):
    """One line of a transcript, stored as it happens."""

    activation = models.ForeignKey(Activation, models.CASCADE, related_name="steps", db_index=False)
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16)  # asked, answered, failed, checked, wrote
    words = models.TextField(blank=True)  # for people, secrets masked
    facts = models.JSONField(default=dict)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    cost_is_guess = models.BooleanField(default=False)
    took_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["activation", "number"]
        constraints = [
            models.UniqueConstraint(name="step_numbered_once", fields=["activation", "number"])
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"
