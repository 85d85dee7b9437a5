"""The audit log: who did what to which row. A trigger refuses UPDATE, DELETE and TRUNCATE."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from surfaces.text.fields import ReasonField
from surfaces.text.reasons import StoredReason


class AuditQuerySet(models.QuerySet["AuditEvent"]):
    def about(self, subject: models.Model) -> Self:
        return self.filter(subject=name_of(subject))

    def by(self, actor: str) -> Self:
        """`mira` finds `operator:mira` too."""
        return self.filter(actor__in=[actor, f"operator:{actor}", f"agent:{actor}"])

    def called(self, action: str) -> Self:
        return self.filter(action=action)

    def record(
        self,
        action: str,
        *,
        actor: str,
        subject: models.Model | AuditSubject | str,
        why: str | StoredReason = "",
        **facts: Any,
    ) -> AuditEvent:
        """Add one event, in the transaction of the change it describes."""
        name, account, agent = subject_of(subject)
        return self.create(
            action=action, actor=actor, subject=name, account_id=account, agent=agent, why=why,
            facts=facts,
        )  # fmt: skip


Owner = tuple[int | None, str]  # id of an account, slug of an agent


class AuditSubject(NamedTuple):
    """What an event is about: its name, and the account and agent it belongs to."""

    name: str
    account: int | None = None
    agent: str = ""


def subject_of(subject: models.Model | AuditSubject | str) -> AuditSubject:
    """A row says which account and agent it belongs to, where its model has `audit_owner`."""
    if isinstance(subject, AuditSubject):
        return subject
    if isinstance(subject, str):
        return AuditSubject(subject)
    owner: Owner = getattr(subject, "audit_owner", (None, ""))
    return AuditSubject(name_of(subject), *owner)


def name_of(row: models.Model) -> str:
    """Name of a row in the audit log, e.g. `draft:12`, or `agent:iris` where it has a name."""
    return getattr(row, "ledger_name", "") or f"{row._meta.model_name}:{row.pk}"


class AuditEvent(models.Model):
    at = models.DateTimeField(default=timezone.now, editable=False)
    action = models.CharField(max_length=64)  # e.g. draft.approved
    actor = models.CharField(max_length=120)  # operator:mira, sender, watcher:moltbook
    subject = models.CharField(max_length=120)  # draft:12
    # The subject's account and agent. No constraint: events outlive the rows they are about.
    account = models.ForeignKey(
        "surfaces.Account", models.DO_NOTHING, null=True, db_constraint=False, db_index=False,
        related_name="+",
    )  # fmt: skip
    agent = models.CharField(max_length=64, blank=True)  # slug
    why = ReasonField()
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
            # For operators limited to some accounts or agents.
            models.Index(
                name="ledger_account", fields=["account", "-id"], condition=~Q(account=None)
            ),
            models.Index(name="ledger_agent", fields=["agent", "-id"], condition=~Q(agent="")),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}"
