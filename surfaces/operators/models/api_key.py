"""API key: a credential for the API, without access to pages."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.surface import Surface
from surfaces.operators.models.operator import Operator, scope_of
from surfaces.operators.scope import Scope, limit_of


class KeyScope(models.TextChoices):
    READ = "read", _lazy("Read: sees what is within its limits")
    WRITE = "write", _lazy("Write: also decides, as far as its owner may")


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def live(self, now: datetime) -> Self:
        owned = Q(operator=None) | Q(operator__is_active=True)
        lasts = Q(expires_at=None) | Q(expires_at__gt=now)
        return self.filter(owned, lasts, revoked_at=None)


class ApiKey(models.Model):
    """Belongs to an operator or to an agent; only the digest of its secret is kept."""

    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=8, help_text="Its first letters, shown in lists.")
    digest = models.CharField(max_length=64)
    operator = models.ForeignKey(
        Operator, models.PROTECT, null=True, blank=True, related_name="api_keys"
    )
    agent = models.CharField(max_length=64, blank=True)
    scope = models.CharField(max_length=5, choices=KeyScope, default=KeyScope.READ)
    # Limits of its own, within those of its owner, kept as an operator's are.
    only_surfaces = models.BooleanField(default=False)
    surfaces = models.ManyToManyField(Surface, related_name="+", blank=True)
    only_agents = models.BooleanField(default=False)
    agents = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    made_by = models.CharField(max_length=120)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = "API key"
        constraints = [
            # Finds the key of a token.
            UniqueConstraint(name="api_key_prefix_once", fields=["prefix"]),
            CheckConstraint(name="api_key_scope_is_known", condition=Q(scope__in=KeyScope.values)),
            CheckConstraint(
                name="api_key_has_one_owner",
                condition=Q(operator=None, agent__gt="") | Q(operator__isnull=False, agent=""),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def actor(self) -> str:
        return f"key:{self.prefix}"

    @property
    def owner(self) -> str:
        return self.operator.username if self.operator else self.agent

    @property
    def may_write(self) -> bool:
        """Its scope, and never more than its owner may."""
        allowed = self.operator is None or self.operator.may_decide
        return self.scope == KeyScope.WRITE and allowed

    def ended(self, now: datetime) -> str:
        """Why it is no longer valid; "" if it is."""
        if self.revoked_at:
            return gettext("revoked")
        if self.expires_at and self.expires_at <= now:
            return gettext("expired")
        return gettext("owner inactive") if self.operator and not self.operator.is_active else ""

    @cached_property
    def reach(self) -> Scope:
        """Its own limits within those of its owner; an agent's key reaches that agent."""
        places = limit_of(self.only_surfaces, [surface.pk for surface in self.surfaces.all()])
        own = scope_of(places, limit_of(self.only_agents, self.agents))
        owner = self.operator.reach if self.operator else scope_of(None, frozenset({self.agent}))
        return own & owner
