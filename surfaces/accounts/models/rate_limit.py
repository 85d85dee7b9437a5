"""Rate limit state per credential or address, shared by all processes."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class RateLimitWindow(models.Model):
    """One bucket of a rate limit, changed only by `accounts.rate_limits`, in single statements."""

    holder = models.CharField(max_length=120)  # digest of a credential, or an address
    bucket = models.CharField(max_length=40)
    taken = ArrayField(models.DateTimeField(), default=list)  # when each request was counted
    used = models.PositiveIntegerField(default=0)
    window_ends_at = models.DateTimeField()  # then all of `used` is free again
    blocked_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="allowance_one_per_bucket", fields=["holder", "bucket"])
        ]

    def __str__(self) -> str:
        return f"{self.bucket} of {self.holder}"
