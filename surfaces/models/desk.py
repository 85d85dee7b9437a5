"""What waits for a person, who is looking at it, and the views people saved of it.

`desk_items` holds one row for each thing that waits, of whatever kind. Triggers on the things'
own tables keep it, in the transaction that changes the thing (migration `0004_desk`), so the desk
is neither late nor early; a floor above adds its kind with a trigger of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from surfaces.models.account import Account
from surfaces.models.operator import Operator


class Risk(models.IntegerChoices):
    LOW = 0, "low"
    SOME = 1, "some"
    HIGH = 2, "high"


class DeskItemQuerySet(models.QuerySet["DeskItem"]):
    """The words we use about what waits."""

    def of(self, kind: str, item_id: int) -> Self:
        return self.filter(kind=kind, item_id=item_id)

    def expiring_by(self, moment: datetime) -> Self:
        return self.filter(expires_at__lte=moment)

    def not_expiring_by(self, moment: datetime) -> Self:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=moment))

    def in_sight(self, now: datetime) -> Self:
        """Not put off until later."""
        return self.filter(Q(later_until=None) | Q(later_until__lte=now))

    def put_off(self, now: datetime) -> Self:
        return self.filter(later_until__gt=now)

    def arrived_after(self, newest_id: int) -> Self:
        """Ids grow with arrival, so the newest id somebody saw says what is news to them."""
        return self.filter(pk__gt=newest_id)


class DeskItem(models.Model):
    """One thing that waits for a person. The row goes when the waiting ends."""

    kind = models.CharField(max_length=20)
    item_id = models.BigIntegerField()  # in the table of its kind
    account = models.ForeignKey(Account, models.CASCADE, related_name="+", db_index=False)
    agent = models.CharField(max_length=64, blank=True)
    since = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    risk = models.PositiveSmallIntegerField(choices=Risk, default=Risk.LOW)
    author = models.CharField(max_length=200, blank=True)
    words = models.TextField(blank=True, help_text="The beginning of what was said, for search.")
    # Put off by a person: out of sight until then, and forgotten when the thing leaves the desk.
    later_until = models.DateTimeField(null=True)
    later_by = models.CharField(max_length=120, blank=True)

    objects = DeskItemQuerySet.as_manager()

    class Meta:
        db_table = "desk_items"
        constraints = [
            models.UniqueConstraint(name="desk_item_once", fields=["kind", "item_id"]),
            models.CheckConstraint(name="desk_risk_is_known", condition=Q(risk__in=Risk.values)),
        ]
        indexes = [
            # For the desk, oldest first, any page of it.
            models.Index(name="desk_oldest", fields=["since", "id"]),
            # For one kind of it, and for the counts.
            models.Index(name="desk_of_kind", fields=["kind", "since", "id"]),
            # For "risk first".
            models.Index(name="desk_risk", fields=["-risk", "since", "id"]),
            # For one account's, and for operators limited to some.
            models.Index(name="desk_of_account", fields=["account", "since", "id"]),
            # For one agent's.
            models.Index(
                name="desk_of_agent", fields=["agent", "since", "id"], condition=~Q(agent="")
            ),
            # For what expires soon: few.
            models.Index(
                name="desk_expiring",
                fields=["expires_at", "id"],
                condition=Q(expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.item_id}"

    @property
    def key(self) -> str:
        """How pages name it, e.g. `draft-12`."""
        return f"{self.kind}-{self.item_id}"


class DeskReaderQuerySet(models.QuerySet["DeskReader"]):
    """The words we use about who looks at what."""

    def now_at(self, now: datetime) -> Self:
        return self.filter(until__gt=now)

    def of(self, kind: str, item_id: int) -> Self:
        return self.filter(kind=kind, item_id=item_id)


class DeskReader(models.Model):
    """Somebody has an item open. Who opened it first holds it, until their lease is over."""

    kind = models.CharField(max_length=20)
    item_id = models.BigIntegerField()
    operator = models.ForeignKey(Operator, models.CASCADE, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()

    objects = DeskReaderQuerySet.as_manager()

    class Meta:
        db_table = "desk_readers"
        ordering = ["since", "id"]
        constraints = [
            # Also finds the readers of an item.
            models.UniqueConstraint(
                name="desk_reader_once", fields=["kind", "item_id", "operator"]
            ),
        ]
        indexes = [
            # For putting old leases away.
            models.Index(name="desk_reader_until", fields=["until"]),
        ]

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
            models.UniqueConstraint(name="saved_view_one_per_name", fields=["operator", "name"]),
        ]

    def __str__(self) -> str:
        return self.name
