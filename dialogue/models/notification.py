"""Something an agent should look at; read only when answered or deliberately passed.

unread ──consider──> wait (look_at) ──> …
  │                  reply ─> draft (parked until it ends) ─> answered
  └──pass (why)──> read <── a person's retry or an unmarked comment opens it again
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from dialogue.models.agent import Agent
from dialogue.models.presence import Presence
from surfaces.models import Draft, Message


class Outcome(models.TextChoices):
    ANSWERED = "answered", "Answered"
    PASSED = "passed", "Passed"


UNREAD = Q(read_at=None)


class NotificationQuerySet(models.QuerySet["Notification"]):
    """The words we use about notifications."""

    def unread(self) -> Self:
        return self.filter(UNREAD)

    def due(self, now: datetime) -> Self:
        """To be considered now."""
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
    # The last verdict, in code and in words (see `turn_taking`).
    verdict = models.CharField(max_length=40, blank=True)
    why = models.TextField(blank=True)
    considered_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True, help_text="Empty: not by itself.")
    not_before = models.DateTimeField(null=True, blank=True, help_text="Between two tries.")
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="A person asked for an answer, whatever came before."
    )
    draft = models.ForeignKey(
        Draft, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    read_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    announced_at = models.DateTimeField(null=True, blank=True, help_text="Told to its agent.")

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                name="notification_once_per_agent_and_message", fields=["agent", "message"]
            ),
            models.CheckConstraint(
                name="notification_read_says_why",
                condition=Q(read_at=None, outcome="")
                | Q(read_at__isnull=False, outcome="answered")
                | (Q(read_at__isnull=False, outcome="passed") & ~Q(why="")),
            ),
        ]
        indexes = [
            # For `due`: the loop asks every second.
            models.Index(name="notification_due", fields=["look_at"], condition=UNREAD),
            # To find what is parked, by its draft.
            models.Index(
                name="notification_draft", fields=["draft"], condition=Q(draft__isnull=False)
            ),
            # For those that wait for a change of circumstances, by presence.
            models.Index(
                name="notification_held",
                fields=["presence", "verdict"],
                condition=UNREAD & Q(look_at=None, draft=None),
            ),
            # For the inbox of one agent.
            models.Index(name="notification_inbox", fields=["agent", "-id"]),
            # For what an agent elsewhere was not told of.
            models.Index(
                name="notification_untold",
                fields=["agent", "id"],
                condition=UNREAD & Q(announced_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.agent_id}"

    @property
    def comment(self) -> Message:
        """What is to be answered. The loop considers no notification without a message."""
        if self.message is None:
            raise ValueError(f"notification {self.pk} is about no message")
        return self.message

    def note(self, **facts: Any) -> bool:
        """Write facts down while it is unread; False if somebody read it meanwhile."""
        unread = Notification.objects.filter(pk=self.pk, read_at=None)
        if not unread.update(**facts):
            return False
        for name, value in facts.items():
            setattr(self, name, value)
        return True


class InboxMark(models.Model):
    """How far the inbox has read a table whose ids do not commit in order.

    `through` is safe: no transaction that may still commit an id at or below it was
    running. `candidate` becomes it once every transaction older than `horizon` has ended.
    """

    name = models.CharField(max_length=16, unique=True)  # messages, ledger
    through = models.PositiveBigIntegerField(default=0)
    candidate = models.PositiveBigIntegerField(default=0)
    horizon = models.PositiveBigIntegerField(default=0)  # a transaction id of PostgreSQL
    # Above `through`, and dealt with already.
    dealt_with = ArrayField(models.BigIntegerField(), default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.name} up to {self.through}"
