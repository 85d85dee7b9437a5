"""Operator: a person who signs in."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar
from zoneinfo import ZoneInfo, available_timezones

from django.apps import apps
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import (
    Case,
    CheckConstraint,
    Count,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _lazy

from surfaces.accounts.models.account import Account, AccountQuerySet
from surfaces.accounts.models.surface import Surface
from surfaces.extension_points import agent_scope
from surfaces.model_fields import CheckedCharField
from surfaces.operators.scope import UNRESTRICTED, Scope, limit_of
from surfaces.settings.models import InstanceSettings


class Role(models.TextChoices):
    VIEWER = "viewer", _lazy("Viewer: reads everything, decides nothing")
    MODERATOR = "moderator", _lazy("Moderator: decides on comments and drafts, pauses")
    ADMIN = "admin", _lazy("Admin: also connects accounts, changes settings and manages operators")


class OperatorLanguage(models.TextChoices):
    BROWSER = "", _lazy("As the browser asks")
    ENGLISH = "en", "English"
    CHINESE = "zh-hans", "简体中文"


def check_zone(name: str) -> None:
    if name not in available_timezones():
        words = _lazy("%(name)s is not a time zone; try Europe/Berlin or Asia/Shanghai.")
        raise ValidationError(words, params={"name": name})


def demanding() -> list[tuple[Role, QuerySet[InstanceSettings]]]:
    """Per role, the row of settings if it demands a second factor."""
    rows = InstanceSettings.objects.all()
    return [
        (Role.VIEWER, rows.filter(two_factor_viewers=True)),
        (Role.MODERATOR, rows.filter(two_factor_moderators=True)),
        (Role.ADMIN, rows.filter(two_factor_admins=True)),
    ]


class OperatorManager(UserManager["Operator"]):
    use_in_migrations = False

    def get_queryset(self) -> QuerySet[Operator]:
        """With the surfaces of the limits, so that a page need not ask for them again."""
        limits = Operator.surfaces.through.objects.filter(operator=OuterRef("pk")).order_by()
        passkeys = apps.get_model("surfaces", "Passkey")._default_manager
        return (
            super()
            .get_queryset()
            .annotate(
                limit_ids=ArraySubquery(limits.values("surface")),
                has_passkey=Exists(passkeys.filter(operator=OuterRef("pk"))),
                owes_two_factor=Case(
                    *(When(role=role, then=Exists(required)) for role, required in demanding()),
                    default=Value(False),
                ),
            )
        )

    def create_superuser(self, *args: Any, **facts: Any) -> Operator:
        """Who may do everything in Django is an administrator here, too."""
        return super().create_superuser(*args, **{"role": Role.ADMIN, **facts})


class Operator(AbstractUser):
    """Somebody with a role. The role decides; Django's own permissions follow it."""

    role = models.CharField(max_length=12, choices=Role, default=Role.VIEWER)
    time_zone = CheckedCharField(max_length=64, default="UTC", validators=[check_zone])
    has_first_password = models.BooleanField(
        default=False, help_text="Still signs in with the password printed at the first start."
    )
    first_run_is_over = models.BooleanField(
        default=False, help_text="Put the list of first steps away."
    )
    language = models.CharField(max_length=8, choices=OperatorLanguage, default="", blank=True)
    # Limits; who manages sees everything, whatever stands here. That there is a limit is a fact of
    # its own: one whose surfaces or agents were deleted allows nothing.
    only_surfaces = models.BooleanField(default=False)
    surfaces = models.ManyToManyField(Surface, related_name="+", blank=True)
    only_agents = models.BooleanField(default=False)
    agents = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    owes_password = models.BooleanField(
        default=False, help_text="Was handed a password; nothing opens before it is changed."
    )
    sign_outs = models.PositiveIntegerField(default=0, editable=False)  # of every browser at once
    # The second factor. On since when; never shown again once it is on.
    sealed_totp = models.BinaryField(default=b"", editable=False)
    totp_since = models.DateTimeField(null=True, blank=True, editable=False)
    totp_step = models.BigIntegerField(default=0, editable=False)  # of the last code taken

    objects: ClassVar[OperatorManager] = OperatorManager()

    class Meta(AbstractUser.Meta):
        verbose_name = "operator"
        constraints = [
            CheckConstraint(name="operator_role_is_known", condition=Q(role__in=Role.values)),
            CheckConstraint(
                name="operator_language_is_known", condition=Q(language__in=OperatorLanguage.values)
            ),
        ]

    @property
    def name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def actor(self) -> str:
        return f"operator:{self.username}"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def may_decide(self) -> bool:
        return self.is_superuser or self.role in {Role.MODERATOR, Role.ADMIN}

    @property
    def may_manage(self) -> bool:
        return self.is_superuser or self.role == Role.ADMIN

    @property
    def has_totp(self) -> bool:
        return self.totp_since is not None

    @property
    def has_two_factor(self) -> bool:
        has_passkey: bool | None = getattr(self, "has_passkey", None)
        if has_passkey is None:  # just made, not read
            has_passkey = self.passkeys.exists()
        return self.has_totp or has_passkey

    @property
    def lacks_two_factor(self) -> bool:
        """Whether the role demands a second factor that is not set up."""
        return bool(getattr(self, "owes_two_factor", False)) and not self.has_two_factor

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Differs after a new password, as Django has it, and after a sign-out everywhere."""
        whole: str = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        return f"{whole}.{self.sign_outs}" if self.sign_outs else whole

    @cached_property
    def accounts_seen(self) -> list[Account] | None:
        """Accounts within the limits, with their surfaces; None is all of them. One query.
        The frame of every page shows them, so limits cost a page nothing.
        """
        if self.may_manage:
            return None
        places: list[int] | None = getattr(self, "limit_ids", None)
        if places is None:  # just made, not read
            places = list(self.surfaces.values_list("pk", flat=True))
        rows = accounts_within(limit_of(self.only_surfaces, places), self.agent_limit)
        if rows is None:
            return None
        there = Account.objects.filter(surface=OuterRef("surface")).order_by().values("surface")
        counted = rows.annotate(accounts_there=there.annotate(number=Count("pk")).values("number"))
        return list(counted.select_related("surface"))

    @cached_property
    def reach(self) -> Scope:
        """What this operator may see. Administrators see everything."""
        if self.accounts_seen is None:
            return UNRESTRICTED
        accounts = frozenset(account.pk for account in self.accounts_seen)
        return Scope(accounts=accounts, agents=self.agent_limit)

    @property
    def agent_limit(self) -> frozenset[str] | None:
        return limit_of(self.only_agents, self.agents)


def accounts_within(
    surfaces: Collection[int] | None, agents: Collection[str] | None
) -> AccountQuerySet | None:
    """Accounts on these surfaces where these agents may speak. None is no limit."""
    if surfaces is None and agents is None:
        return None
    rows = Account.objects.all()
    if surfaces is not None:
        rows = rows.filter(surface__in=surfaces)
    if agents is not None:
        # Who speaks where is told by the floor above.
        rows = rows.filter(pk__in=agent_scope().accounts_of(agents))
    return rows


def scope_of(surfaces: frozenset[int] | None, agents: frozenset[str] | None) -> Scope:
    rows = accounts_within(surfaces, agents)
    if rows is None:
        return UNRESTRICTED
    found = rows.order_by().values_list("pk", flat=True)
    return Scope(accounts=frozenset(found), agents=agents)
