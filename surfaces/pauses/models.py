"""Pause: forbids sending for everything, a surface, an account or an agent."""

from typing import Self

from django.db import models
from django.db.models import OuterRef, Q
from django.db.models.expressions import Combinable, RawSQL
from django.utils.translation import gettext_lazy as _lazy

from surfaces.text.fields import ReasonField
from surfaces.text.reasons import StoredReason, reason


class PauseScope(models.TextChoices):
    ALL = "all", _lazy("Everything")
    SURFACE = "surface", _lazy("Surface")
    ACCOUNT = "account", _lazy("Account")
    AGENT = "agent", _lazy("Agent")


class PauseQuerySet(models.QuerySet["Pause"]):
    def live(self) -> Self:
        return self.filter(ended_at=None)

    def over(
        self, *, surface: str | Combinable, account: str | Combinable, agent: str | Combinable
    ) -> Self:
        """Live pauses that forbid this agent to speak as this account on this surface."""
        return self.live().filter(
            Q(scope=PauseScope.ALL)
            | Q(scope=PauseScope.SURFACE, subject=surface)
            | Q(scope=PauseScope.ACCOUNT, subject=account)
            | Q(scope=PauseScope.AGENT, subject=agent)
        )

    def over_rows(self, *, agent: str) -> Self:
        """`over` for each row of a query that has an `account`; `agent` is the path to a slug."""
        slug, name = OuterRef("account__surface__slug"), OuterRef("account__name")
        return self.over(surface=slug, account=name, agent=OuterRef(agent))

    def sql_over(self, *, surface: str, account: str, agent: str) -> str:
        """`over` as SQL, for a statement that has these columns."""
        columns = [RawSQL(column, []) for column in (surface, account, agent)]  # noqa: S611
        rows = self.over(surface=columns[0], account=columns[1], agent=columns[2])
        sql, scopes = rows.order_by().values("pk").query.sql_with_params()
        return str(sql % tuple(f"'{scope}'" for scope in scopes))


class Pause(models.Model):
    """One live pause per subject. `subject` is a slug or name; empty for everything."""

    scope = models.CharField(max_length=8, choices=PauseScope)
    subject = models.CharField(max_length=120, blank=True)
    why = ReasonField()
    by = models.CharField(max_length=120)
    since = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=120, blank=True)

    objects = PauseQuerySet.as_manager()

    class Meta:
        ordering = ["-since"]
        constraints = [
            # Also serves `over`: a handful of live rows.
            models.UniqueConstraint(
                name="pause_one_live_per_subject",
                fields=["scope", "subject"],
                condition=Q(ended_at=None),
            ),
            models.CheckConstraint(
                name="pause_names_its_subject",
                condition=Q(scope="all", subject="") | (~Q(scope="all") & ~Q(subject="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_scope_display()} {self.subject}".strip()

    @property
    def subject_name(self) -> StoredReason:
        """What is paused, as words for sentences."""
        return reason(f"pause_scope.{self.scope}", subject=self.subject)
