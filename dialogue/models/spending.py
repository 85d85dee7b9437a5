"""What was spent and what is held for calls under way, per owner and period of UTC."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import Q

from dialogue.models.activation import Activation

HOUSE = "house"  # the owner of what all agents spend together


class Period(models.TextChoices):
    DAY = "day", "Day"
    MONTH = "month", "Month"


class Spending(models.Model):
    """`owner` is an agent's slug with `agent:` before it, or the house."""

    owner = models.CharField(max_length=80)
    period = models.CharField(max_length=5, choices=Period)
    starts = models.DateField()
    tokens = models.PositiveBigIntegerField(default=0)
    money = models.DecimalField(max_digits=14, decimal_places=6, default=Decimal(0))
    held_tokens = models.PositiveBigIntegerField(default=0)
    held_money = models.DecimalField(max_digits=14, decimal_places=6, default=Decimal(0))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="spending_once_per_period", fields=["owner", "period", "starts"]
            ),
            models.CheckConstraint(
                name="spending_is_never_negative",
                condition=Q(money__gte=0, held_money__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner}, {self.period} of {self.starts}"


class Reservation(models.Model):
    """Held before a call, settled after it; a dead worker's is settled as if it was spent."""

    activation = models.ForeignKey(Activation, models.CASCADE, related_name="reservations")
    at = models.DateTimeField()
    tokens = models.PositiveIntegerField()
    money = models.DecimalField(max_digits=12, decimal_places=6)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            # For what dead workers left held.
            models.Index(
                name="reservation_held", fields=["activation"], condition=Q(settled_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tokens} tokens for {self.activation_id}"
