"""Language models of an agent."""

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.settings import OutputStyle
from dialogue.errors import VoiceMisconfigured
from surfaces import crypto
from surfaces.text.reasons import reason


class ModelEndpoint(models.Model):
    """A language model of an agent. The lowest rank is used first, the others if it fails."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="brains")
    rank = models.PositiveSmallIntegerField(default=0)
    model = models.CharField(
        max_length=200, help_text="provider:name, e.g. anthropic:claude-sonnet-4-5."
    )
    base_url = models.CharField(
        max_length=300, blank=True, help_text="Empty: the provider's own address."
    )
    sealed_key = models.BinaryField(default=b"", editable=False)
    output_style = models.CharField(max_length=8, choices=OutputStyle, default=OutputStyle.TOOL)
    streams = models.BooleanField(default=False, help_text="Stream the response.")

    class Meta:
        ordering = ["agent", "rank"]
        constraints = [
            UniqueConstraint(name="brain_one_per_rank", fields=["agent", "rank"]),
            CheckConstraint(
                name="brain_output_style_is_known", condition=Q(output_style__in=OutputStyle.values)
            ),
        ]

    def __str__(self) -> str:
        return self.model

    @property
    def key(self) -> str:
        """The decrypted API key. Only for the voice."""
        try:
            return crypto.decrypt(self.sealed_key)
        except crypto.InvalidToken as error:
            raise VoiceMisconfigured(reason("brain.key_lost", model=self.model)) from error


def check_model_name(name: str) -> None:
    provider, _colon, model = name.partition(":")
    if not provider or not model:
        raise ValidationError(_("Enter provider:name, such as anthropic:claude-sonnet-4-5."))
