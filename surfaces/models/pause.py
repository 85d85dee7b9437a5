"""What may not speak, who said so, and since when."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.db.models import OuterRef, Q


class Scope(models.TextChoices):
    ALL = "all", "Everything"
    SURFACE = "surface", "Surface"
    ACCOUNT = "account", "Account"
    AGENT = "agent", "Agent"


class PauseQuerySet(models.QuerySet["Pause"]):
    def live(self) -> Self:
        return self.filter(ended_at=None)

    def over(
        self, *, surface: str | OuterRef, account: str | OuterRef, agent: str | OuterRef
    ) -> Self:
        """Live pauses that forbid this agent to speak as this account on this surface."""
        return self.live().filter(
            Q(scope=Scope.ALL)
            | Q(scope=Scope.SURFACE, subject=surface)
            | Q(scope=Scope.ACCOUNT, subject=account)
            | Q(scope=Scope.AGENT, subject=agent)
        )


class Pause(models.Model):
    """One live pause per subject. `subject` is a slug or name; empty for everything."""

    scope = models.CharField(max_length=8, choices=Scope)
    subject = models.CharField(max_length=120, blank=True)
    why = models.CharField(max_length=400, blank=True)
    by = models.CharField(max_length=120)
    since = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=120, blank=True)

    objects = PauseQuerySet.as_manager()

    class Meta:
        ordering = ["-since"]
        constraints = [
            # Also serves `over`: a handful of live rows.
            models.UniqueConstraint(
                name="pause_one_live_per_subject",
                fields=["scope", "subject"],
                condition=Q(ended_at=None),
            ),
            models.CheckConstraint(
                name="pause_names_its_subject",
                condition=Q(scope="all", subject="") | (~Q(scope="all") & ~Q(subject="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_scope_display()} {self.subject}".strip()
