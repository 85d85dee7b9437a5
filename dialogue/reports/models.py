"""What an agent saw and did through one account in one hour, for its people."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Index, Q, UniqueConstraint

from dialogue.agents.models.agent import Agent
from surfaces.audit.models import Owner
from surfaces.models import Account

COUNTS = ("seen", "answered", "waiting", "held", "failed")


class AgentReport(models.Model):
    """One row per agent, account and hour in which something happened.

    By account, because an operator may see one account of an agent and not another.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="reports", db_index=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField(help_text="When the hour begins, UTC.")
    seen = models.PositiveIntegerField(default=0)  # new notifications
    answered = models.PositiveIntegerField(default=0)  # drafts written
    waiting = models.PositiveIntegerField(default=0)  # for an operator: drafts and tool calls
    held = models.PositiveIntegerField(default=0)  # passed or held, with the reason
    failed = models.PositiveIntegerField(default=0)  # attempts of the agent, and its drafts
    # Of what is shown with a link: [{"what": "waiting", "kind": "draft", "id": 5, "words": "…"}],
    # capped.
    links = models.JSONField(default=list, blank=True)
    # When notices were made of it. It is not counted again after that.
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-hour", "agent"]
        constraints = [
            UniqueConstraint(name="agent_report_once", fields=["agent", "hour", "account"])
        ]
        indexes = [
            # For digests: few wait.
            Index(name="agent_report_untold", fields=["hour"], condition=Q(told_at=None)),
            # For old reports that are put away.
            Index(name="agent_report_hour", fields=["hour"]),
        ]

    def __str__(self) -> str:
        return f"report of {self.agent} at {self.hour:%Y-%m-%d %H}"

    @property
    def ends_at(self) -> datetime:
        return self.hour + timedelta(hours=1)

    @property
    def audit_owner(self) -> Owner:
        return self.account_id, self.agent.slug
