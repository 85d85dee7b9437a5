"""A post of ours and why we laid it: explore or exploit."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from dialogue.models.agent import Kernel
from dialogue.models.presence import Presence
from surfaces.models import Draft, Message

MOST_TRIES = 3  # of the voice, for one stone


class StoneKind(models.TextChoices):
    EXPLORE = "explore", "Explore"
    EXPLOIT = "exploit", "Exploit"


class StoneState(models.TextChoices):
    CHOSEN = "chosen", "Chosen"
    WRITTEN = "written", "Written"
    GIVEN_UP = "given_up", "Given up"


class StoneQuerySet(models.QuerySet["Stone"]):
    def to_write(self, now: datetime) -> Self:
        return self.filter(state=StoneState.CHOSEN, look_at__lte=now)


class Stone(models.Model):
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="stones", db_index=False)
    slot = models.CharField(max_length=32)  # e.g. 2026-11-21#1, in the agent's time
    kind = models.CharField(max_length=8, choices=StoneKind)
    why = models.TextField()
    # The score table: [{"post": id, "title": …, "comments": 3, …, "score": 2.1, "share": 0.4}, …]
    table = models.JSONField(default=list)
    draw = models.FloatField()  # the one random number, 0 to 1
    share = models.FloatField()  # of exploring, as it was set then
    thread = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    kernel = models.ForeignKey(Kernel, models.SET_NULL, null=True, blank=True, related_name="+")
    chosen_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=StoneState, default=StoneState.CHOSEN)
    look_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    outcome = models.TextField(blank=True)
    draft = models.OneToOneField(
        Draft, models.SET_NULL, null=True, blank=True, related_name="stone"
    )

    objects = StoneQuerySet.as_manager()

    class Meta:
        ordering = ["-chosen_at", "-id"]
        constraints = [
            # Choosing twice for one slot chooses once.
            models.UniqueConstraint(name="stone_once_per_slot", fields=["presence", "slot"]),
            models.CheckConstraint(
                name="stone_kind_is_known", condition=Q(kind__in=StoneKind.values)
            ),
            models.CheckConstraint(
                name="stone_state_is_known", condition=Q(state__in=StoneState.values)
            ),
        ]
        indexes = [
            # For the stones page.
            models.Index(name="stone_newest", fields=["-chosen_at", "-id"]),
            # For `to_write`.
            models.Index(name="stone_due", fields=["look_at"], condition=Q(state="chosen")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.slot}"
