"""How an agent that lives elsewhere hears of news: an address, and what was sent there.

waiting ──> delivered
   │  └─later─┘
   └──> failed (after the last try) ──resend──> waiting
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from dialogue.models.agent import Agent
from surfaces import sealing
from surfaces.models import Account


class HookKind(models.TextChoices):
    WEBHOOK = "webhook", "Webhook: Standard Webhooks signature"
    OPENCLAW = "openclaw", "OpenClaw hook: bearer token"


class EventState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class WakeHook(models.Model):
    agent = models.OneToOneField(Agent, models.CASCADE, related_name="hook")
    kind = models.CharField(max_length=10, choices=HookKind, default=HookKind.WEBHOOK)
    url = models.CharField(max_length=500)
    # webhook: the base64 secret after whsec_; openclaw: the bearer token.
    sealed_secret = models.BinaryField(default=b"", editable=False)
    is_on = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="wake_hook_kind_is_known", condition=Q(kind__in=HookKind.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.agent_id}"

    @property
    def secret(self) -> str:
        """In the clear. For signing, and for nothing else."""
        return sealing.opened(self.sealed_secret)


class WakeEventQuerySet(models.QuerySet["WakeEvent"]):
    def due(self, now: datetime) -> Self:
        """Waiting, its time has come, and nobody is delivering it."""
        free = Q(lease_until=None) | Q(lease_until__lte=now)
        return self.filter(free, state=EventState.WAITING, not_before__lte=now)


class WakeEvent(models.Model):
    hook = models.ForeignKey(WakeHook, models.CASCADE, related_name="events", db_index=False)
    account = models.ForeignKey(Account, models.CASCADE, null=True, related_name="+")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)  # the webhook-id
    made_at = models.DateTimeField()
    body = models.JSONField()
    state = models.CharField(max_length=10, choices=EventState, default=EventState.WAITING)
    not_before = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True, blank=True)
    why = models.CharField(max_length=400, blank=True)

    objects = WakeEventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                name="wake_event_state_is_known", condition=Q(state__in=EventState.values)
            ),
        ]
        indexes = [
            # For `due`.
            models.Index(
                name="wake_event_due", fields=["not_before"], condition=Q(state="waiting")
            ),
            # For the delivery log of one hook.
            models.Index(name="wake_event_log", fields=["hook", "-id"]),
        ]

    def __str__(self) -> str:
        return f"wake {self.key}"


class WakeTry(models.Model):
    """One delivery tried."""

    event = models.ForeignKey(WakeEvent, models.CASCADE, related_name="log")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # none: nobody answered
    why = models.CharField(max_length=400, blank=True)
    took_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.status or 'no answer'} at {self.at}"
