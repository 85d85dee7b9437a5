"""Our name on a surface, with its credential. It does not know who speaks through it.

ok ──> limited (until) ──> ok        by itself
 ├───> down (since)    ──> ok        by the next round that gets through
 ├───> auth_failed     ──> ok        by a new credential
 └───> suspended       ──> ok        when it ends, or by an operator
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from surfaces import sealing
from surfaces.errors import AuthFailed
from surfaces.models.surface import Surface


class State(models.TextChoices):
    OK = "ok", "Working"
    LIMITED = "limited", "Limited"
    AUTH_FAILED = "auth_failed", "Sign-in failed"
    SUSPENDED = "suspended", "Suspended"
    DOWN = "down", "Down"


PASSING = {State.LIMITED, State.DOWN}  # ends by itself


class Mode(models.TextChoices):
    AUTO = "auto", "Auto: what a voice writes is sent without a person"
    REVIEW = "review", "Review: a person approves first"
    SHADOW = "shadow", "Shadow: everything but the sending"
    OFF = "off", "Off: nothing is written"


class BadCredential(AuthFailed):
    """The credential cannot be read with the keys we have."""


class AccountQuerySet(models.QuerySet["Account"]):
    """The words we use about accounts."""

    def on(self) -> Self:
        return self.filter(is_on=True, surface__is_on=True)

    def able_to_read(self) -> Self:
        """Switched on and signed in."""
        return self.on().exclude(state=State.AUTH_FAILED)

    def due(self, now: datetime) -> Self:
        """To be read now, and read by nobody else."""
        return (
            self.able_to_read()
            .filter(next_watch_at__lte=now)
            .filter(Q(watch_lease_until=None) | Q(watch_lease_until__lte=now))
        )

    def able_to_write(self, now: datetime) -> Self:
        """Nothing that the account itself knows speaks against writing."""
        return (
            self.able_to_read()
            .exclude(Q(state=State.SUSPENDED), Q(state_until=None) | Q(state_until__gt=now))
            .filter(Q(quiet_until=None) | Q(quiet_until__lte=now))
        )

    def for_a_person(self, now: datetime) -> Self:
        """In a trouble that no later trouble may cover up: it would end with that."""
        lasts = Q(state_until=None) | Q(state_until__gt=now)
        return self.filter(Q(state=State.AUTH_FAILED) | Q(state=State.SUSPENDED) & lasts)

    def in_trouble(self) -> Self:
        return self.exclude(state=State.OK)


class Account(models.Model):
    surface = models.ForeignKey(Surface, models.PROTECT, related_name="accounts")
    name = models.CharField(max_length=120, unique=True, help_text="How operators call it.")
    handle = models.CharField(max_length=120, blank=True)
    remote_id = models.CharField(max_length=200, blank=True)
    sealed_credential = models.BinaryField(default=b"", editable=False)
    mode = models.CharField(max_length=8, choices=Mode, default=Mode.REVIEW)
    is_on = models.BooleanField(default=True)

    every = models.PositiveSmallIntegerField(
        "minutes between rounds",
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
    )
    next_watch_at = models.DateTimeField(db_index=False)
    watch_lease_until = models.DateTimeField(null=True, blank=True)
    watched_by = models.CharField(max_length=120, blank=True)
    watch_number = models.PositiveBigIntegerField(default=0)  # fencing: grows with every claim
    cursor = models.JSONField(default=dict, blank=True)

    state = models.CharField(max_length=12, choices=State, default=State.OK)
    state_since = models.DateTimeField()
    state_until = models.DateTimeField(null=True, blank=True)
    state_why = models.CharField(max_length=400, blank=True)
    quiet_until = models.DateTimeField(
        null=True, blank=True, help_text="The service asked the sender to wait until then."
    )
    challenges_failed = models.PositiveSmallIntegerField(default=0)  # in a row
    made_at = models.DateTimeField(auto_now_add=True)

    objects = AccountQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            # Two accounts of one name would each answer the same comment.
            models.UniqueConstraint(
                name="account_one_per_name_on_a_surface",
                fields=["surface", "remote_id"],
                condition=~Q(remote_id=""),
            ),
            models.CheckConstraint(
                name="account_every_1_to_1440_minutes", condition=Q(every__range=(1, 1440))
            ),
            models.CheckConstraint(
                name="account_state_is_known", condition=Q(state__in=State.values)
            ),
            models.CheckConstraint(name="account_mode_is_known", condition=Q(mode__in=Mode.values)),
        ]
        indexes = [
            # For `due`: the watcher asks every second.
            models.Index(
                name="account_due",
                fields=["next_watch_at"],
                condition=Q(is_on=True) & ~Q(state="auth_failed"),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def needs_person(self) -> bool:
        """In a trouble that does not end by itself."""
        return self.state in {State.AUTH_FAILED, State.SUSPENDED}

    @property
    def interval(self) -> timedelta:
        return timedelta(minutes=self.every)

    @property
    def credential(self) -> str:
        """The token in the clear. Hand it to an adapter, and to nothing else."""
        try:
            return sealing.opened(self.sealed_credential)
        except sealing.InvalidToken:
            return self._credential_now()

    def _credential_now(self) -> str:
        """Keys may have been rotated since this row was read: look at the row again."""
        self.refresh_from_db(fields=["sealed_credential"])
        try:
            return sealing.opened(self.sealed_credential)
        except sealing.InvalidToken as error:
            raise BadCredential(f"the credential of {self.name} needs a key we lost") from error

    def seal(self, token: str) -> bytes:
        """Return `token` encrypted under the newest key. Assign it; save with update_fields."""
        return sealing.sealed(token)

    def becomes(
        self,
        state: State,
        *,
        now: datetime,
        why: str = "",
        until: datetime | None = None,
        **facts: Any,
    ) -> bool:
        """Write down a state; return whether it is another one than before.

        `since` moves only when the state does, so "down since" says the truth.
        """
        rows = Account.objects.filter(pk=self.pk)
        if state in PASSING and rows.for_a_person(now).exists():
            rows.update(**facts)
            self.refresh_from_db(fields=["state", "state_why", "state_until", *facts])
            return False
        changed = not rows.filter(state=state).exists()
        given = {"state": state, "state_why": why[:400], "state_until": until, **facts}
        if changed:
            given["state_since"] = now
        rows.update(**given)
        for name, value in given.items():
            setattr(self, name, value)
        return changed

    def challenge_failed(self) -> int:
        """Count one more failure in a row; return how many that makes."""
        Account.objects.filter(pk=self.pk).update(challenges_failed=F("challenges_failed") + 1)
        self.refresh_from_db(fields=["challenges_failed"])
        return self.challenges_failed
