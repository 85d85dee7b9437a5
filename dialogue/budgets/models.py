"""Spending and reservations per owner and UTC period."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from dialogue.activations.models import Activation
from dialogue.agents.models.settings import DAY_WITHIN_MONTH, dollars
from surfaces.model_fields import between

HOUSE = "house"  # the owner of the shared budget


class Period(models.TextChoices):
    DAY = "day", _("Day")
    MONTH = "month", _("Month")


class Spending(models.Model):
    """`owner` is `agent:` and the slug, or `HOUSE` for all agents together."""

    owner = models.CharField(max_length=80)
    period = models.CharField(max_length=5, choices=Period)
    starts = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)
    money = models.DecimalField(max_digits=14, decimal_places=6, default=Decimal(0))
    held_tokens = models.PositiveBigIntegerField(default=0)
    held_money = models.DecimalField(max_digits=14, decimal_places=6, default=Decimal(0))

    class Meta:
        constraints = [
            UniqueConstraint(name="spending_once_per_period", fields=["owner", "period", "starts"]),
            CheckConstraint(
                name="spending_is_never_negative", condition=Q(money__gte=0, held_money__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner}, {self.period} of {self.starts}"


class Reservation(models.Model):
    """Reserved before a request, settled after it. Those of dead workers count as spent."""

    activation = models.ForeignKey(Activation, models.CASCADE, related_name="reservations")
    at = models.DateTimeField()
    tokens = models.PositiveIntegerField()
    money = models.DecimalField(max_digits=12, decimal_places=6)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # To find reservations of dead workers.
            Index(name="reservation_held", fields=["activation"], condition=Q(settled_at=None))
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens for {self.activation_id}"


class SharedBudget(models.Model):
    tokens_per_day = models.PositiveIntegerField(
        default=1_000_000, validators=between(0, 100_000_000)
    )
    tokens_per_month = models.PositiveBigIntegerField(
        default=15_000_000, validators=between(0, 2_000_000_000)
    )
    money_per_day = dollars(5, most=100_000)
    money_per_month = dollars(50, most=100_000)

    ledger_name = "house:budget"

    class Meta:
        constraints = [
            CheckConstraint(name="house_budget_is_one_row", condition=Q(id=1)),
            CheckConstraint(
                name="house_budget_day_within_month",
                condition=DAY_WITHIN_MONTH,
                violation_error_message=_("The daily budget is larger than the monthly budget."),
            ),
        ]

    def __str__(self) -> str:
        return "what all agents may cost"

    @classmethod
    def current(cls) -> SharedBudget:
        return cls.objects.get_or_create(pk=1)[0]
