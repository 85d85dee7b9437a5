"""Webhooks of external agents: URL, events and delivery attempts.

waiting ──> delivered
   │  └─later─┘
   └──> failed (after the last attempt) ──resend──> waiting
"""

import uuid
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from surfaces import crypto
from surfaces.models import Account
from surfaces.text.fields import ReasonField


class HookKind(models.TextChoices):
    WEBHOOK = "webhook", _lazy("Webhook: Standard Webhooks signature")
    OPENCLAW = "openclaw", _lazy("OpenClaw hook: bearer token")


class WakeEventState(models.TextChoices):
    WAITING = "waiting", _lazy("Waiting")
    DELIVERED = "delivered", _lazy("Delivered")
    FAILED = "failed", _lazy("Failed")


class WakeHook(models.Model):
    agent = models.OneToOneField(Agent, models.CASCADE, related_name="hook")
    kind = models.CharField(max_length=10, choices=HookKind, default=HookKind.WEBHOOK)
    url = models.CharField(max_length=500)
    # webhook: the base64 secret after whsec_; openclaw: the bearer token.
    sealed_secret = models.BinaryField(default=b"", editable=False)
    is_on = models.BooleanField(default=True)

    class Meta:
        constraints = [
            CheckConstraint(name="wake_hook_kind_is_known", condition=Q(kind__in=HookKind.values))
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.agent_id}"

    @property
    def secret(self) -> str:
        """The decrypted secret. Only for signing."""
        return crypto.decrypt(self.sealed_secret)


class WakeEventQuerySet(models.QuerySet["WakeEvent"]):
    def due(self, now: datetime) -> Self:
        """Waiting, due, and not leased by a worker."""
        free = Q(lease_until=None) | Q(lease_until__lte=now)
        return self.filter(free, state=WakeEventState.WAITING, not_before__lte=now)


class WakeEvent(models.Model):
    hook = models.ForeignKey(WakeHook, models.CASCADE, related_name="events", db_index=False)
    account = models.ForeignKey(Account, models.CASCADE, null=True, related_name="+")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)  # the webhook-id
    made_at = models.DateTimeField()
    body = models.JSONField()
    state = models.CharField(max_length=10, choices=WakeEventState, default=WakeEventState.WAITING)
    not_before = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True, blank=True)
    why = ReasonField()

    objects = WakeEventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            CheckConstraint(
                name="wake_event_state_is_known", condition=Q(state__in=WakeEventState.values)
            )
        ]
        indexes = [
            # For `due`.
            Index(name="wake_event_due", fields=["not_before"], condition=Q(state="waiting")),
            # For the delivery log of one hook.
            Index(name="wake_event_log", fields=["hook", "-id"]),
        ]

    def __str__(self) -> str:
        return f"wake {self.key}"


class WakeAttempt(models.Model):
    event = models.ForeignKey(WakeEvent, models.CASCADE, related_name="log")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, blank=True)  # None: no response
    why = ReasonField()
    took_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.status or 'no answer'} at {self.at}"
