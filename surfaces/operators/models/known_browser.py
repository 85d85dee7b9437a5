"""Known browser: one that an operator signed in with, on one network."""

from django.db import models

from surfaces.operators.models.operator import Operator


class KnownBrowser(models.Model):
    """Found by the digest of a random cookie. Guessing elsewhere does not slow it down."""

    operator = models.ForeignKey(
        Operator, models.CASCADE, related_name="known_browsers", db_index=False
    )
    digest = models.CharField(max_length=64)
    browser = models.CharField(max_length=80)
    network = models.CharField(max_length=43)
    is_first = models.BooleanField(default=False)  # of its operator: no news to them
    made_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-seen_at"]
        constraints = [
            # Also finds whether a browser is known at all.
            models.UniqueConstraint(
                name="known_browser_once", fields=["operator", "digest", "network"]
            )
        ]
        indexes = [
            # For news of new sign-ins, and for whether a network is known.
            models.Index(name="known_browser_network", fields=["operator", "network"]),
            models.Index(name="known_browser_made", fields=["made_at"]),
            # For pruning.
            models.Index(name="known_browser_seen", fields=["seen_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.browser} from {self.network}"
