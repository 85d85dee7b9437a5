"""Failed sign-in attempts by name and network."""

from django.db import models


class SignInAttempt(models.Model):
    """One failed attempt. Deleted after the correct password."""

    username = models.CharField(max_length=150)  # lowered; need not exist
    network = models.CharField(max_length=43)  # the address, or the /64 around it
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]
        indexes = [
            # For the two counts of every try.
            models.Index(name="sign_in_network", fields=["network", "username", "at"]),
            # For pruning.
            models.Index(name="sign_in_at", fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.username} from {self.network}"
