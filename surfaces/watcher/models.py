"""What reading leaves behind: the result of each poll, and how far a backfill has come."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Index

from surfaces.accounts.models.account import Account
from surfaces.text.fields import ReasonField


class WatchRoundQuerySet(models.QuerySet["WatchRound"]):
    def since(self, moment: datetime) -> Self:
        return self.filter(started_at__gte=moment)

    def latest_of_each(self) -> Self:
        return self.order_by("account_id", "-id").distinct("account_id")


class WatchRound(models.Model):
    account = models.ForeignKey(Account, models.CASCADE, related_name="rounds")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    outcome = ReasonField()  # empty: it went well
    requests = models.PositiveIntegerField(default=0)
    threads = models.PositiveIntegerField(default=0)  # read in this round
    seen = models.PositiveIntegerField(default=0)  # items read
    stored = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    deleted = models.PositiveIntegerField(default=0)
    suspect = models.PositiveIntegerField(default=0)
    spam = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    skipped_why = models.JSONField(default=list)  # the first few: [id, reason]

    objects = WatchRoundQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            # For the account's page: its latest rounds.
            Index(name="watch_round_latest", fields=["account", "-id"]),
            # For what a day brought, by account and hour: answered from the index alone.
            Index(
                name="watch_round_day", fields=["account", "started_at"], include=["stored", "spam"]
            ),
        ]

    def __str__(self) -> str:
        return f"round {self.pk} of account {self.account_id}"

    @property
    def took(self) -> str:
        return f"{(self.ended_at - self.started_at).total_seconds():.1f} s"


class ReadingPlace(models.Model):
    """How far the backfill of an account has come. Ended: the next one begins anew."""

    account = models.OneToOneField(Account, models.CASCADE, related_name="reading_place")
    started_at = models.DateTimeField()
    page = models.TextField(blank=True)  # the cursor of the page being read; empty: the first
    posts = models.PositiveIntegerField(default=0)  # read so far
    ended_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"place in the history of account {self.account_id}"
