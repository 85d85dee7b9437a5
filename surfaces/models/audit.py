"""The ledger: who did what to which row, and when. Rows are only ever added.

A trigger refuses UPDATE, DELETE and TRUNCATE (migration `ledger_is_append_only`).
"""

from __future__ import annotations

from typing import Any, Self

from django.db import models
from django.utils import timezone


class AuditQuerySet(models.QuerySet["AuditEvent"]):
    def about(self, subject: models.Model) -> Self:
        return self.filter(subject=name_of(subject))

    def by(self, actor: str) -> Self:
        """`mira` finds `operator:mira` too."""
        return self.filter(actor__in=[actor, f"operator:{actor}", f"agent:{actor}"])

    def called(self, action: str) -> Self:
        return self.filter(action=action)

    def on(self, subject: str) -> Self:
        return self.filter(subject=subject)

    def record(
        self, action: str, *, actor: str, subject: models.Model | str, why: str = "", **facts: Any
    ) -> AuditEvent:
        """Add one line, in the transaction of the change it describes."""
        return self.create(
            action=action,
            actor=actor,
            subject=subject if isinstance(subject, str) else name_of(subject),
            why=why[:2000],
            facts=facts,
        )


def name_of(row: models.Model) -> str:
    """How the ledger names a row, e.g. `draft:12`, or `agent:iris` where it has a name."""
    return getattr(row, "ledger_name", "") or f"{row._meta.model_name}:{row.pk}"


class AuditEvent(models.Model):
    at = models.DateTimeField(default=timezone.now, editable=False)
    action = models.CharField(max_length=64)  # e.g. draft.approved
    actor = models.CharField(max_length=120)  # operator:mira, sender, watcher:moltbook
    subject = models.CharField(max_length=120)  # draft:12
    why = models.TextField(blank=True)
    facts = models.JSONField(default=dict)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "ledger line"
        indexes = [
            # For the timeline of one row.
            models.Index(name="ledger_subject", fields=["subject", "id"]),
            # For the ledger page, filtered.
            models.Index(name="ledger_actor", fields=["actor", "-id"]),
            models.Index(name="ledger_action", fields=["action", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}"
