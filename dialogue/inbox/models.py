"""Notification: something for an agent; read only when answered or passed with a reason.

unread ──consider──> wait (look_at) ──> …
  │                  reply ─> draft (waits until it ends) ─> answered
  └──pass (why)──> read <── a retry by an operator or an unmarked comment reopens it
"""

from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from surfaces.models import Draft, Message
from surfaces.text.fields import ReasonField


class NotificationOutcome(models.TextChoices):
    ANSWERED = "answered", _lazy("Answered")
    PASSED = "passed", _lazy("Passed")


UNREAD = Q(read_at=None)


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> Self:
        return self.filter(UNREAD)

    def due(self, now: datetime) -> Self:
        return self.filter(UNREAD, look_at__lte=now)

    def about(self, message: Message) -> Self:
        return self.filter(message=message)


class Notification(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="notifications", db_index=False)
    presence = models.ForeignKey(
        Presence, models.CASCADE, related_name="notifications", db_index=False
    )
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="notifications"
    )
    kind = models.CharField(max_length=40)  # reply, mention, comment, …; unknown ones are kept
    made_at = models.DateTimeField()
    # The last decision, as code and reason (see `replies.decision`).
    verdict = models.CharField(max_length=40, blank=True)
    why = ReasonField()
    considered_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True, help_text="The next check. Empty: none.")
    not_before = models.DateTimeField(null=True, blank=True, help_text="Wait between two attempts.")
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When an operator requested a reply."
    )
    draft = models.ForeignKey(
        Draft, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    read_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=NotificationOutcome, blank=True)
    announced_at = models.DateTimeField(
        null=True, blank=True, help_text="Sent to the external agent."
    )

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            UniqueConstraint(
                name="notification_once_per_agent_and_message", fields=["agent", "message"]
            ),
            CheckConstraint(
                name="notification_read_says_why",
                condition=Q(read_at=None, outcome="")
                | Q(read_at__isnull=False, outcome="answered")
                | (Q(read_at__isnull=False, outcome="passed") & ~Q(why={})),
            ),
        ]
        indexes = [
            # For `due`, which runs every second.
            Index(name="notification_due", fields=["look_at"], condition=UNREAD),
            # For what the trigger keeps of an agent: when the first is due, which is the oldest.
            Index(name="notification_next", fields=["agent", "look_at"], condition=UNREAD),
            Index(name="notification_oldest", fields=["agent", "made_at"], condition=UNREAD),
            # To find notifications by their draft.
            Index(name="notification_draft", fields=["draft"], condition=Q(draft__isnull=False)),
            # For those that wait without a time, by presence.
            Index(
                name="notification_held",
                fields=["presence", "verdict"],
                condition=UNREAD & Q(look_at=None, draft=None),
            ),
            # For what waits for a fact that changed, or was passed because of a limit.
            Index(
                name="notification_decided",
                fields=["presence", "verdict"],
                condition=UNREAD | Q(verdict__in=["thread_full", "too_old"]),
            ),
            # For the inbox of one agent.
            Index(name="notification_inbox", fields=["agent", "-id"]),
            # For notifications not yet sent to an external agent.
            Index(
                name="notification_untold",
                fields=["agent", "id"],
                condition=UNREAD & Q(announced_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.agent_id}"

    @property
    def comment(self) -> Message:
        if self.message is None:
            raise ValueError(f"notification {self.pk} is about no message")
        return self.message

    @property
    def cause(self) -> str:
        """For which at most one live draft may exist (`Draft.written_for`)."""
        return f"notification:{self.pk}"

    def note(self, **facts: Any) -> bool:
        """Update columns while it is unread; False if it was read meanwhile."""
        unread = Notification.objects.filter(pk=self.pk, read_at=None)
        if not unread.update(**facts):
            return False
        for name, value in facts.items():
            setattr(self, name, value)
        return True


class ReadCursor(models.Model):
    """Position up to which the inbox has read a table whose ids do not commit in order.

    `through` is safe: no transaction that may still commit an id at or below it was
    running. `candidate` becomes it once every transaction older than `horizon` has ended.
    """

    name = models.CharField(max_length=16, unique=True)  # messages, ledger
    through = models.PositiveBigIntegerField(default=0)
    candidate = models.PositiveBigIntegerField(default=0)
    horizon = models.PositiveBigIntegerField(default=0)  # a transaction id of PostgreSQL
    # Ids above `through` that were processed already.
    dealt_with = ArrayField(models.BigIntegerField(), default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.name} up to {self.through}"
