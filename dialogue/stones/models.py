"""Stone: a post of ours and why it was chosen (explore or exploit)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agents.models.agent import Agent
from dialogue.agents.models.presence import Presence
from surfaces.audit.models import Owner
from surfaces.models import Draft, Message
from surfaces.text.fields import ReasonField

MOST_TRIES = 3  # attempts per stone


class StoneKind(models.TextChoices):
    EXPLORE = "explore", _lazy("Explore")
    EXPLOIT = "exploit", _lazy("Exploit")


class StoneState(models.TextChoices):
    CHOSEN = "chosen", _lazy("Chosen")
    WRITTEN = "written", _lazy("Written")
    GIVEN_UP = "given_up", _lazy("Given up")


class StoneQuerySet(models.QuerySet["Stone"]):
    def to_write(self, now: datetime) -> Self:
        return self.filter(state=StoneState.CHOSEN, look_at__lte=now)


class Stone(models.Model):
    presence = models.ForeignKey(Presence, models.CASCADE, related_name="stones", db_index=False)
    slot = models.CharField(max_length=32)  # e.g. 2026-11-21#1, in the agent's time
    kind = models.CharField(max_length=8, choices=StoneKind)
    why = ReasonField()
    # The score table: [{"post": id, "title": …, "comments": 3, …, "score": 2.1, "share": 0.4}, …]
    table = models.JSONField(default=list)
    draw = models.FloatField()  # the one random number, 0 to 1
    share = models.FloatField()  # explore share at that time
    thread = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    kernel = models.ForeignKey("Kernel", models.SET_NULL, null=True, blank=True, related_name="+")
    chosen_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=StoneState, default=StoneState.CHOSEN)
    look_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    outcome = ReasonField()
    draft = models.OneToOneField(
        Draft, models.SET_NULL, null=True, blank=True, related_name="stone"
    )

    objects = StoneQuerySet.as_manager()

    class Meta:
        ordering = ["-chosen_at", "-id"]
        constraints = [
            # One stone per slot, also with concurrent workers.
            UniqueConstraint(name="stone_once_per_slot", fields=["presence", "slot"]),
            CheckConstraint(name="stone_kind_is_known", condition=Q(kind__in=StoneKind.values)),
            CheckConstraint(name="stone_state_is_known", condition=Q(state__in=StoneState.values)),
        ]
        indexes = [
            # For the stones page.
            Index(name="stone_newest", fields=["-chosen_at", "-id"]),
            # For `to_write`.
            Index(name="stone_due", fields=["look_at"], condition=Q(state="chosen")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.slot}"

    @property
    def audit_owner(self) -> Owner:
        return self.presence.account_id, self.presence.agent.slug


class Kernel(models.Model):
    """A topic seed of an agent, from which a stone can be written."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="kernels")
    words = models.CharField(max_length=1000)
    is_on = models.BooleanField(default=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    used = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [UniqueConstraint(name="kernel_once_per_agent", fields=["agent", "words"])]

    def __str__(self) -> str:
        return self.words[:80]

    @classmethod
    def keep(cls, agent: Agent, lines: Iterable[str], *, now: datetime) -> None:
        """Set the agent's list to `lines`; kept ones keep their last use."""
        wanted = list(dict.fromkeys(line.strip()[:1000] for line in lines if line.strip()))
        rows = cls.objects.filter(agent=agent)
        rows.exclude(words__in=wanted).update(is_on=False)
        rows.filter(words__in=wanted).update(is_on=True)
        known = set(rows.filter(words__in=wanted).values_list("words", flat=True))
        Kernel.objects.bulk_create([cls(agent=agent, words=w) for w in wanted if w not in known])
