"""Notes that an agent keeps between activations. Operators can read and delete them."""

from django.db import models
from django.db.models import Index

from dialogue.agents.models.agent import Agent
from surfaces.models import Message


class Memory(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="memories", db_index=False)
    words = models.TextField()
    source = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "memories"
        indexes = [
            # For an agent's memories, newest first.
            Index(name="memory_of_agent", fields=["agent", "-id"])
        ]

    def __str__(self) -> str:
        return self.words[:80]
