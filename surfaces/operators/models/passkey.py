"""Passkey: a WebAuthn credential that is a second factor."""

from django.db import models

from surfaces.operators.models.operator import Operator


class Passkey(models.Model):
    operator = models.ForeignKey(Operator, models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=60)
    credential_id = models.BinaryField(max_length=1023, unique=True, editable=False)
    public_key = models.BinaryField(editable=False)
    # Grows with each use where the authenticator counts; one that does not grow is a copy.
    sign_count = models.BigIntegerField(default=0, editable=False)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(name="passkey_name_once", fields=["operator", "name"])
        ]

    def __str__(self) -> str:
        return self.name
