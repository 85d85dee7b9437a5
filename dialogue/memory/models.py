"""Notes that an agent keeps between activations. Operators can read and delete them.

A note keeps what it came from. Its trust is the least of its sources: what rests on one sentence
by a stranger is a stranger's.
"""

from typing import Any, Self

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import Index, Q
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations.models import Activation
from dialogue.agents.models.agent import Agent
from surfaces.model_fields import check
from surfaces.models import Message


class Trust(models.IntegerChoices):
    """Whose words something rests on; the lowest of several counts."""

    STRANGER = 0, _lazy("Other people")
    AGENT = 1, _lazy("The agent")
    OPERATOR = 2, _lazy("Operators")


class MemoryQuerySet(models.QuerySet["Memory"]):
    def matching(self, query: Any) -> Self:
        return self.filter(search=query)


class Memory(models.Model):
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="memories", db_index=False)
    words = models.TextField()
    topic = models.CharField(max_length=120, blank=True)
    trust = models.PositiveSmallIntegerField(choices=Trust, default=Trust.STRANGER)
    # What it came from: {"kind": message | memory | tool | page, "id": …, "author": …, "trust": …}
    sources = models.JSONField(default=list, blank=True)
    source = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    activation = models.ForeignKey(
        Activation, models.SET_NULL, null=True, blank=True, related_name="memories"
    )
    made_at = models.DateTimeField()
    recalled_at = models.DateTimeField(null=True, blank=True)
    search = models.GeneratedField(
        expression=SearchVector("topic", "words", config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = MemoryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "memories"
        constraints = [
            check("memory_trust_is_known", trust__in=Trust.values),
            models.CheckConstraint(name="memory_says_something", condition=~Q(words="")),
        ]
        indexes = [
            # For an agent's memories, newest first.
            Index(name="memory_of_agent", fields=["agent", "-id"]),
            # For `matching`.
            GinIndex(name="memory_search", fields=["search"]),
        ]

    def __str__(self) -> str:
        return self.words[:80]
