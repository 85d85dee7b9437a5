"""Surface: a service with posts and comments."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, validate_slug
from django.db import models
from django.utils.translation import gettext_lazy as _lazy

from surfaces import adapters
from surfaces.adapters.base import Reader, Traits
from surfaces.adapters.limits import RateLimit
from surfaces.model_fields import CheckedCharField, CheckedJSONField


def check_limits(value: Any) -> None:
    """`value` must be {bucket: [requests, seconds]}."""
    pairs: list[Any] = list(value.values()) if isinstance(value, dict) else [None]
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not all(isinstance(n, int) and n > 0 for n in pair):
            message = _lazy('Write {"comment": [50, 3600]}: requests, and in how many seconds.')
            raise ValidationError(message)


class Surface(models.Model):
    """One service at one address. Two hubs are two surfaces."""

    slug = models.CharField(max_length=64, unique=True, validators=[validate_slug])
    name = models.CharField(max_length=80)
    kind = CheckedCharField(max_length=32, choices=adapters.kind_choices)
    base_url = models.URLField(
        max_length=300, blank=True, help_text="Empty: the service's own address."
    )
    dialect = models.CharField(
        max_length=32,
        blank=True,
        help_text="Which form of the API it speaks. Empty: the next poll asks it.",
    )
    limits = CheckedJSONField(
        default=dict,
        blank=True,
        validators=[check_limits],
        help_text='Our own budgets, e.g. {"comment": [50, 3600]}: 50 requests in 3600 s.',
    )
    longest_delay_seconds = models.PositiveIntegerField(
        default=600,
        validators=[MinValueValidator(1), MaxValueValidator(86_400)],
        help_text="The service may store a request this long after it was made.",
    )
    is_on = models.BooleanField(default=True, help_text="Off: neither read nor written.")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(name="surface_once_per_address", fields=["kind", "base_url"])
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def reader(self) -> type[Reader]:
        return adapters.READERS[self.kind]

    @property
    def traits(self) -> Traits:
        return self.reader.traits

    @property
    def documented(self) -> tuple[RateLimit, ...]:
        """The service's own limits, at its own address; other servers report theirs."""
        return self.known_limits if self.is_at_its_own_address else ()

    @property
    def is_at_its_own_address(self) -> bool:
        return self.base_url in {"", self.traits.base_url}

    @property
    def known_dialect(self) -> str:
        """The dialect spoken here, "" until the service was asked."""
        own = self.traits.own_dialect if self.is_at_its_own_address else ""
        return self.dialect or own

    @property
    def known_limits(self) -> tuple[RateLimit, ...]:
        """The limits that this kind of service has, in the dialect that is spoken here."""
        return tuple(
            limit
            for limit in self.traits.limits
            if not limit.dialects or self.known_dialect in {"", *limit.dialects}
        )

    @property
    def shared_buckets(self) -> frozenset[str]:
        """What this kind of service counts by address, whatever the limits are here."""
        return frozenset(limit.bucket for limit in self.traits.limits if limit.by_address)

    @property
    def budgets(self) -> tuple[RateLimit, ...]:
        """Rate limits in use here."""
        table = {limit.bucket: limit for limit in self.documented}
        for bucket, (most, seconds) in self.limits.items():
            per = timedelta(seconds=seconds)
            table[bucket] = RateLimit(bucket, most, per, by_address=bucket in self.shared_buckets)
        return tuple(table.values())
