"""Desk items, their viewers, and saved views.

`desk_items` holds one row for each thing that waits, of whatever kind. Triggers on the things'
own tables keep it, in the transaction that changes the thing (migration `0002_triggers`), so the
desk is always current; another app adds its kind with its own trigger.
"""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint, Value
from django.db.models.functions import Concat, Lower
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account
from surfaces.audit.models import Owner
from surfaces.operators.models.operator import Operator


class Risk(models.IntegerChoices):
    LOW = 0, _lazy("low")
    SOME = 1, _lazy("some")
    HIGH = 2, _lazy("high")


class DeskItemQuerySet(models.QuerySet["DeskItem"]):
    def of(self, kind: str, item_id: int) -> Self:
        return self.filter(kind=kind, item_id=item_id)

    def expiring_by(self, moment: datetime) -> Self:
        return self.filter(expires_at__lte=moment)

    def not_expiring_by(self, moment: datetime) -> Self:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=moment))

    def in_sight(self, now: datetime) -> Self:
        return self.filter(Q(later_until=None) | Q(later_until__lte=now))

    def put_off(self, now: datetime) -> Self:
        return self.filter(later_until__gt=now)

    def arrived_after(self, newest_id: int) -> Self:
        return self.filter(pk__gt=newest_id)


class DeskItem(models.Model):
    """One item that waits for an operator. The row is deleted when it no longer waits."""

    kind = models.CharField(max_length=20)
    item_id = models.BigIntegerField()  # in the table of its kind
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    agent = models.CharField(max_length=64, blank=True)
    since = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    risk = models.PositiveSmallIntegerField(choices=Risk, default=Risk.LOW)
    author = models.CharField(max_length=200, blank=True)
    words = models.TextField(blank=True, help_text="The beginning of what was said, for search.")
    sought = models.GeneratedField(
        expression=Lower(Concat("words", Value("\n"), "author", output_field=models.TextField())),
        output_field=models.TextField(),
        db_persist=True,
    )
    # Snoozed until then; reset when the item leaves the desk.
    later_until = models.DateTimeField(null=True)
    later_by = models.CharField(max_length=120, blank=True)

    objects = DeskItemQuerySet.as_manager()

    class Meta:
        db_table = "desk_items"
        constraints = [
            UniqueConstraint(name="desk_item_once", fields=["kind", "item_id"]),
            CheckConstraint(name="desk_risk_is_known", condition=Q(risk__in=Risk.values)),
        ]
        indexes = [
            # For the desk, oldest first, any page of it.
            Index(name="desk_oldest", fields=["since", "id"]),
            # For one kind of it, and for the counts.
            Index(name="desk_of_kind", fields=["kind", "since", "id"]),
            # For "risk first".
            Index(name="desk_risk", fields=["-risk", "since", "id"]),
            # For one account's, and for operators limited to some.
            Index(name="desk_of_account", fields=["account", "since", "id"]),
            # For one agent's.
            Index(name="desk_of_agent", fields=["agent", "since", "id"], condition=~Q(agent="")),
            # For what expires soon: few.
            Index(
                name="desk_expiring",
                fields=["expires_at", "id"],
                condition=Q(expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.item_id}"

    @property
    def ledger_name(self) -> str:
        return f"{self.kind}:{self.item_id}"

    @property
    def audit_owner(self) -> Owner:
        return self.account_id, self.agent

    @property
    def key(self) -> str:
        """How pages name it, e.g. `draft-12`."""
        return f"{self.kind}-{self.item_id}"


class DeskViewerQuerySet(models.QuerySet["DeskViewer"]):
    def now_at(self, now: datetime) -> Self:
        return self.filter(until__gt=now)

    def of(self, kind: str, item_id: int) -> Self:
        return self.filter(kind=kind, item_id=item_id)


class DeskViewer(models.Model):
    """An operator has an item open. The first holds it until the lease expires."""

    kind = models.CharField(max_length=20)
    item_id = models.BigIntegerField()
    operator = models.ForeignKey(Operator, models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()

    objects = DeskViewerQuerySet.as_manager()

    class Meta:
        db_table = "desk_readers"
        ordering = ["since", "id"]
        constraints = [
            # Also finds the readers of an item.
            UniqueConstraint(name="desk_reader_once", fields=["kind", "item_id", "operator"])
        ]
        indexes = [Index(name="desk_reader_until", fields=["until"])]  # for putting old leases away

    def __str__(self) -> str:
        return f"{self.operator} at {self.kind} {self.item_id}"


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def seen_by(self, operator: Operator) -> Self:
        """One's own, and those an administrator shares with everybody."""
        return self.filter(Q(operator=operator) | Q(is_shared=True))


class SavedView(models.Model):
    """A filter of the desk under a name, e.g. "Discord, nights"."""

    operator = models.ForeignKey(Operator, models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, blank=True)  # as in the address, after "?"
    is_shared = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        db_table = "desk_saved_views"
        ordering = ["name", "id"]
        constraints = [
            UniqueConstraint(name="saved_view_one_per_name", fields=["operator", "name"])
        ]

    def __str__(self) -> str:
        return self.name
