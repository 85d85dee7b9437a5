"""Activation: one run of an agent, with trigger, transcript, cost and outcome.

running ──> done | failed | exhausted | released (the process or a person stopped it)
   ├──> waiting: tool calls wait for a decision; its lease and agent are free ──> running
   └──> abandoned: its worker died; later writes by it are refused

Each thing that it is to look at is an `ActivationItem` with its own result.
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
    WAITING = "waiting", _lazy("Waiting for approval")
    DONE = "done", _lazy("Done")
    FAILED = "failed", _lazy("Failed")
    EXHAUSTED = "exhausted", _lazy("Limit reached")
    RELEASED = "released", _lazy("Interrupted")
    ABANDONED = "abandoned", _lazy("Worker lost")


class Purpose(models.TextChoices):
    REPLY = "reply", _lazy("Reply")
    STONE = "stone", _lazy("Stone")
    EXPLORE = "explore", _lazy("Exploration")
    TASK = "task", _lazy("Task")


class Lane(models.TextChoices):
    """An agent may have one live activation in each."""

    WORK = "work", _lazy("Work")
    CROSSBOT = "crossbot", _lazy("Bots")


LIVE = [ActivationState.RUNNING, ActivationState.WAITING]


class ActivationQuerySet(models.QuerySet["Activation"]):
    def running(self) -> Self:
        return self.filter(state=ActivationState.RUNNING)

    def suspended(self) -> Self:
        return self.filter(state=ActivationState.WAITING)


class Activation(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="activations", db_index=False)
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="activations")
    purpose = models.CharField(max_length=8, choices=Purpose)
    lane = models.CharField(max_length=8, choices=Lane, default=Lane.WORK)
    task = models.TextField(blank=True, help_text="What an operator asked for, if anything.")
    # The one being answered, of those among its items.
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
    # Against its limits, over all claims of it.
    requests = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)  # of tools
    worked_ms = models.PositiveIntegerField(default=0)  # before this claim
    resumed_at = models.DateTimeField(null=True, blank=True)  # when this claim began, if not first
    notifications = models.PositiveIntegerField(default=0)  # handled
    posts = models.PositiveIntegerField(default=0)  # drafts written
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    stop_asked_by = models.CharField(max_length=120, blank=True)
    # One that waits and may not go on yet is looked at again then; `outcome` says why.
    look_at = models.DateTimeField(null=True, blank=True)

    objects = ActivationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            UniqueConstraint(
                name="activation_one_live_per_agent",
                fields=["agent", "lane"],
                condition=Q(state="running"),
            ),
            UniqueConstraint(name="activation_number_grows_once", fields=["agent", "number"]),
            CheckConstraint(
                name="activation_state_is_known", condition=Q(state__in=ActivationState.values)
            ),
            CheckConstraint(
                name="activation_ended_says_what_came",
                condition=Q(state__in=["running", "waiting"], ended_at=None)
                | (
                    ~Q(state__in=["running", "waiting"])
                    & Q(ended_at__isnull=False)
                    & ~Q(outcome={})
                ),
            ),
            CheckConstraint(name="activation_lane_is_known", condition=Q(lane__in=Lane.values)),
        ]
        indexes = [
            # For `running`.
            Index(name="activation_lease", fields=["lease_until"], condition=Q(state="running")),
            # For `suspended`: what goes on when its calls are decided.
            Index(name="activation_suspended", fields=["id"], condition=Q(state="waiting")),
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


class ItemState(models.TextChoices):
    PENDING = "pending", _lazy("Not begun")
    WORKING = "working", _lazy("Under way")
    WAITING = "waiting", _lazy("Waiting for approval")
    DRAFTED = "drafted", _lazy("Draft written")
    NOTHING = "nothing", _lazy("Nothing to say")
    DECIDED = "decided", _lazy("Not answered")
    FAILED = "failed", _lazy("Failed")
    RELEASED = "released", _lazy("Left for later")


UNFINISHED = [ItemState.PENDING, ItemState.WORKING, ItemState.WAITING]


class ActivationItem(models.Model):
    """One thing an activation looks at: a notification, an exploration or a task."""

    activation = models.ForeignKey(Activation, models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveSmallIntegerField()
    notification = models.ForeignKey(
        Notification, models.SET_NULL, null=True, blank=True, related_name="items"
    )
    state = models.CharField(max_length=8, choices=ItemState, default=ItemState.PENDING)
    why = ReasonField(help_text="The result, for operators.")
    draft = models.ForeignKey(Draft, models.SET_NULL, null=True, blank=True, related_name="items")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["activation", "position"]
        constraints = [
            UniqueConstraint(name="activation_item_once", fields=["activation", "position"]),
            CheckConstraint(
                name="activation_item_state_is_known", condition=Q(state__in=ItemState.values)
            ),
            CheckConstraint(
                name="activation_item_ended_says_why",
                condition=Q(state__in=["pending", "working", "waiting"], ended_at=None)
                | (
                    ~Q(state__in=["pending", "working", "waiting"])
                    & Q(ended_at__isnull=False)
                    & ~Q(why={})
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.position} of {self.activation_id}"


class Conversation(models.Model):
    """The conversation with the model of an item that waits, so that any worker can go on.

    Secrets are masked. It is deleted when the item ends.
    """

    item = models.OneToOneField(ActivationItem, models.CASCADE, related_name="conversation")
    model = models.CharField(max_length=200)  # provider:name, which goes on with it
    messages = models.TextField()  # JSON of pydantic-ai, at most 2 MB
    kept_at = models.DateTimeField()
    read_digest = models.CharField(max_length=64, blank=True)  # of the comment as it was read

    def __str__(self) -> str:
        return f"conversation of item {self.item_id}"


class TranscriptStep(models.Model):
    activation = models.ForeignKey(Activation, models.CASCADE, related_name="steps", db_index=False)
    item = models.ForeignKey(
        ActivationItem, models.CASCADE, null=True, blank=True, related_name="steps"
    )
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=16)  # asked, answered, failed, checked, wrote,
    # offered (candidates of an exploration), called, returned, suspended, resumed
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
