"""What an agent saw and did in one hour, for its people."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint

from dialogue.agents.models.agent import Agent
from surfaces.audit.models import Owner


class AgentReport(models.Model):
    """One row per agent and hour in which something happened. Counts are of comments."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="reports", db_index=False)
    hour = models.DateTimeField(help_text="When the hour begins, UTC.")
    seen = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)  # drafts written
    waiting = models.PositiveIntegerField(default=0)  # for an operator: drafts and tool calls
    held = models.PositiveIntegerField(default=0)  # passed or held, with the reason
    failed = models.PositiveIntegerField(default=0)
    # Of what is shown with a link: [{"kind": "draft", "id": 5, "words": "…"}], capped.
    links = models.JSONField(default=list, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-hour", "agent"]
        constraints = [UniqueConstraint(name="agent_report_once", fields=["agent", "hour"])]
        indexes = [
            # For digests: few wait.
            Index(name="agent_report_untold", fields=["hour"], condition=Q(told_at=None)),
            # For old reports that are put away.
            Index(name="agent_report_hour", fields=["hour"]),
        ]

    def __str__(self) -> str:
        return f"report of {self.agent} at {self.hour:%Y-%m-%d %H}"

    @property
    def audit_owner(self) -> Owner:
        return None, self.agent.slug
