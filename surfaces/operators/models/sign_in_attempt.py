"""Failed sign-in attempts by name and network."""

from django.db import models


class SignInAttempt(models.Model):
    """One failed attempt. Deleted after the correct password."""

    username = models.CharField(max_length=150)  # lowered; need not exist
    network = models.CharField(max_length=43)  # the address, or the /64 around it
    # A browser or network that this name signed in from before; "" is anywhere else.
    origin = models.CharField(max_length=72, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]
        indexes = [
            # For the two counts of every try.
            models.Index(name="sign_in_network", fields=["network", "username", "at"]),
            # For the count of a name over all networks.
            models.Index(name="sign_in_name", fields=["username", "origin", "-at"]),
            # For pruning.
            models.Index(name="sign_in_at", fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.username} from {self.network}"
