"""Presence: an agent's assignment to an account. Delivery follows the account's mode."""

from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

from dialogue.agents.models.agent import Agent
from surfaces.accounts.models.account import ReplyMode
from surfaces.models import Account


class PresenceQuerySet(models.QuerySet["Presence"]):
    def live(self) -> Self:
        return self.filter(ended_at=None)


class Presence(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="presences")
    account = models.ForeignKey(Account, models.CASCADE, related_name="presences")
    mode = models.CharField(
        max_length=8, choices=ReplyMode, blank=True, help_text="Empty: as the agent's settings say."
    )
    # The mode last written to the account. If it differs there, an operator set it on its page.
    obeyed = models.CharField(max_length=8, choices=ReplyMode, blank=True, editable=False)
    since = models.DateTimeField(help_text="Comments stored earlier are ignored.")
    ended_at = models.DateTimeField(null=True, blank=True)

    stones_per_day = models.PositiveSmallIntegerField(
        default=1, validators=[MaxValueValidator(24)], help_text="At most so many posts a day."
    )
    explore_share = models.FloatField(
        default=0.25, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    stone_community = models.CharField(max_length=200, blank=True)
    # An operator wants it to run now: the next free worker takes it.
    run_purpose = models.CharField(max_length=8, blank=True)  # reply, explore or task
    run_task = models.TextField(blank=True)
    run_asked_at = models.DateTimeField(null=True, blank=True)
    run_asked_by = models.CharField(max_length=120, blank=True)
    next_stone_at = models.DateTimeField(null=True, blank=True, help_text="Not earlier than this.")

    objects = PresenceQuerySet.as_manager()

    class Meta:
        ordering = ["agent", "account"]
        constraints = [
            # One live agent per account, or a comment is answered twice.
            UniqueConstraint(
                name="presence_one_live_per_account", fields=["account"], condition=Q(ended_at=None)
            ),
            CheckConstraint(
                name="presence_run_says_who_asked",
                condition=Q(run_purpose="", run_asked_at=None)
                | (
                    Q(run_purpose__in=["reply", "explore", "task"], run_asked_at__isnull=False)
                    & ~Q(run_asked_by="")
                ),
            ),
            CheckConstraint(
                name="presence_mode_is_known", condition=Q(mode="") | Q(mode__in=ReplyMode.values)
            ),
            CheckConstraint(
                name="presence_share_is_a_share", condition=Q(explore_share__range=(0, 1))
            ),
        ]

        indexes = [
            # For what operators want now: few.
            Index(
                name="presence_run_asked",
                fields=["run_asked_at"],
                condition=Q(run_asked_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent} as {self.account}"

    @property
    def effective_mode(self) -> str:
        """Its own mode, or else the agent's."""
        return self.mode or self.agent.settings.mode
