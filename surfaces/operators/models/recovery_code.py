"""Recovery code: signs in once without the authenticator app."""

import hashlib

from django.db import models

from surfaces.operators.models.operator import Operator


class RecoveryCode(models.Model):
    """Only the digest is kept: 80 random bits are not found by guessing."""

    operator = models.ForeignKey(
        Operator, models.CASCADE, related_name="recovery_codes", db_index=False
    )
    digest = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            # Also finds the code that was typed.
            models.UniqueConstraint(
                name="recovery_code_once_per_operator", fields=["operator", "digest"]
            )
        ]

    def __str__(self) -> str:
        return f"recovery code {self.pk}"


def digest_of(code: str) -> str:
    """However it was typed: with or without dashes, in capitals or not."""
    plain = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(plain.encode()).hexdigest()
