"""Training data of the spam filter."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, F, Index, Q


class SpamTokenQuerySet(models.QuerySet["SpamToken"]):
    def taught(self) -> "SpamToken":
        """How many messages of each kind the filter learned from."""
        return self.filter(token="").first() or SpamToken(token="")

    def telling(self, *, spam: bool) -> Self:
        """Tokens that speak for one side, the loudest first; seen at least twice there."""
        mine, other = ("in_spam", "in_clean") if spam else ("in_clean", "in_spam")
        rows = self.exclude(token="").filter(**{f"{mine}__gte": 2}, is_forgotten=False)
        ahead = rows.alias(lead=F(mine) - 3 * F(other)).filter(lead__gt=0)
        return ahead.order_by("-lead", "token")


class SpamToken(models.Model):
    """In how many spam and clean messages a token stood. The empty token counts messages."""

    token = models.CharField(max_length=200, primary_key=True)
    in_spam = models.PositiveIntegerField(default=0)
    in_clean = models.PositiveIntegerField(default=0)
    # Counted on, so that undo stays exact, but not listened to.
    is_forgotten = models.BooleanField(default=False, db_default=False)

    objects = SpamTokenQuerySet.as_manager()

    class Meta:
        indexes = [
            # For the page of learned words, any page of it.
            Index((F("in_spam") + F("in_clean")).desc(), "token", name="spam_token_seen"),
            # For the words that speak loudest for one side.
            Index(
                (F("in_spam") - 3 * F("in_clean")).desc(),
                "token",
                name="spam_token_for_spam",
                condition=Q(in_spam__gte=2),
            ),
            Index(
                (F("in_clean") - 3 * F("in_spam")).desc(),
                "token",
                name="spam_token_for_clean",
                condition=Q(in_clean__gte=2),
            ),
        ]

    def __str__(self) -> str:
        return self.token


class SpamDecision(models.Model):
    """An operator's word on one message, with exactly what was learnt from it."""

    message = models.OneToOneField("surfaces.Message", models.CASCADE, related_name="spam_decision")
    is_spam = models.BooleanField()
    tokens = ArrayField(models.CharField(max_length=200))
    filter_status = models.CharField(max_length=8, blank=True)  # what the filter had said
    filter_score = models.FloatField(null=True)
    signs = ArrayField(models.CharField(max_length=20), default=list)  # what the filter went by
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        # For the page that compares the filter with the operators.
        indexes = [Index(name="spam_decision_at", fields=["-at"])]
        constraints = [
            CheckConstraint(
                name="spam_decision_filter_status_is_known",
                condition=Q(filter_status__in=["", "spam", "suspect", "clean"]),
            )
        ]

    def __str__(self) -> str:
        return f"message {self.message_id}: {'spam' if self.is_spam else 'clean'}"
