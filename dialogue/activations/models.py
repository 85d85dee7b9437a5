"""Activation: one run of an agent, with trigger, transcript, cost and outcome.

running ──> done | failed | exhausted | released (the process was stopped)
   └──> abandoned: its worker died; later writes by it are refused
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from dialogue.errors import LeaseLost
from dialogue.inbox.models import Notification
from surfaces.models import Draft
from surfaces.text.fields import ReasonField


class ActivationState(models.TextChoices):
    RUNNING = "running", _lazy("Running")
    DONE = "done", _lazy("Done")
    FAILED = "failed", _lazy("Failed")
    EXHAUSTED = "exhausted", _lazy("Out of budget")
    RELEASED = "released", _lazy("Interrupted")
    ABANDONED = "abandoned", _lazy("Worker lost")


class Purpose(models.TextChoices):
    REPLY = "reply", _lazy("Reply")
    STONE = "stone", _lazy("Stone")


class ActivationQuerySet(models.QuerySet["Activation"]):
    def running(self) -> Self:
        return self.filter(state=ActivationState.RUNNING)


class Activation(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="activations", db_index=False)
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="activations")
    purpose = models.CharField(max_length=8, choices=Purpose)
    notification = models.ForeignKey(
        Notification, models.SET_NULL, null=True, blank=True, related_name="activations"
    )
    why = ReasonField()
    state = models.CharField(
        max_length=10, choices=ActivationState, default=ActivationState.RUNNING
    )
    number = models.PositiveBigIntegerField()  # fencing number among the claims of the agent
    worker = models.CharField(max_length=120)
    lease_until = models.DateTimeField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = ReasonField(help_text="The result, for operators.")
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
            UniqueConstraint(
                name="activation_one_live_per_agent", fields=["agent"], condition=Q(state="running")
            ),
            UniqueConstraint(name="activation_number_grows_once", fields=["agent", "number"]),
            CheckConstraint(
                name="activation_state_is_known", condition=Q(state__in=ActivationState.values)
            ),
            CheckConstraint(
                name="activation_ended_says_what_came",
                condition=Q(state="running", ended_at=None)
                | (~Q(state="running") & Q(ended_at__isnull=False) & ~Q(outcome={})),
            ),
        ]
        indexes = [
            # For `running`.
            Index(name="activation_lease", fields=["lease_until"], condition=Q(state="running")),
            # For the lists of one agent and of all agents.
            Index(name="activation_of_agent", fields=["agent", "-id"]),
        ]

    def __str__(self) -> str:
        return f"activation {self.pk}"

    @property
    def reason(self) -> Notification:
        """The notification that triggered it. Every reply has one."""
        if self.notification is None:
            raise ValueError(f"activation {self.pk} was woken for no notification")
        return self.notification

    def mine(self) -> models.QuerySet[Activation]:
        """Query for this row while this worker still holds it."""
        return Activation.objects.running().filter(pk=self.pk, number=self.number)

    def note(self, **facts: Any) -> None:
        """Update columns, or raise `LeaseLost` if another worker took it over."""
        if not self.mine().update(**facts):
            raise LeaseLost(f"activation {self.pk} was taken back")
        for name, value in facts.items():
            setattr(self, name, value)


class TranscriptStep(models.Model):
    activation = models.ForeignKey(Activation, models.CASCADE, related_name="steps", db_index=False)
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16)  # asked, answered, failed, checked, wrote
    words = models.TextField(blank=True)  # what the model wrote, secrets masked
    why = ReasonField()  # the program's own text about the step
    facts = models.JSONField(default=dict)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    cost_is_guess = models.BooleanField(default=False)
    took_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["activation", "number"]
        constraints = [UniqueConstraint(name="step_numbered_once", fields=["activation", "number"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"
