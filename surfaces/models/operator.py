"""A person who logs in here."""

from __future__ import annotations

from typing import Any, ClassVar
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q


class Role(models.TextChoices):
    VIEWER = "viewer", "Viewer: reads everything, decides nothing"
    MODERATOR = "moderator", "Moderator: decides on comments and drafts, pauses"
    ADMIN = "admin", "Admin: also connects accounts and manages operators"


def check_zone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(f"{name} is not a time zone; try Europe/Berlin or Asia/Shanghai.")


class OperatorManager(UserManager["Operator"]):
    def create_superuser(self, *args: Any, **facts: Any) -> Operator:
        """Who may do everything in Django is an administrator here, too."""
        return super().create_superuser(*args, **{"role": Role.ADMIN, **facts})


class Operator(AbstractUser):
    """Somebody with a role. The role decides; Django's own permissions follow it."""

    role = models.CharField(max_length=12, choices=Role, default=Role.VIEWER)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[check_zone])
    has_first_password = models.BooleanField(
        default=False, help_text="Still signs in with the password printed at the first start."
    )

    objects: ClassVar[OperatorManager] = OperatorManager()

    class Meta(AbstractUser.Meta):
        verbose_name = "operator"
        constraints = [
            models.CheckConstraint(name="operator_role_is_known", condition=Q(role__in=Role.values))
        ]

    @property
    def name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def actor(self) -> str:
        """How the ledger names this person."""
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
