"""Account: our identity on a surface, with its credential. It does not know its agent.

ok ──> limited (until) ──> ok        on its own
 ├───> down (since)    ──> ok        by the next successful poll
 ├───> auth_failed     ──> ok        by a new credential
 └───> suspended       ──> ok        when it ends, or by an operator
"""

from datetime import datetime, timedelta
from typing import Any, Self

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _lazy

from surfaces import crypto
from surfaces.accounts.models.surface import Surface
from surfaces.audit.models import Owner
from surfaces.errors import AuthFailed
from surfaces.model_fields import between, check
from surfaces.text.fields import ReasonField
from surfaces.text.reasons import StoredReason, as_reason, reason


class AccountState(models.TextChoices):
    OK = "ok", _lazy("Working")
    LIMITED = "limited", _lazy("Limited")
    AUTH_FAILED = "auth_failed", _lazy("Sign-in failed")
    SUSPENDED = "suspended", _lazy("Suspended")
    DOWN = "down", _lazy("Down")


PASSING = {AccountState.LIMITED, AccountState.DOWN}  # ends on its own


class ReplyMode(models.TextChoices):
    AUTO = "auto", _lazy("Auto: replies are sent without review")
    REVIEW = "review", _lazy("Review: an operator approves each reply")
    SHADOW = "shadow", _lazy("Shadow: replies are written but not sent")
    OFF = "off", _lazy("Off: no reply is written")


class BadCredential(AuthFailed):
    """The credential cannot be decrypted."""


class AccountQuerySet(models.QuerySet["Account"]):
    def on(self) -> Self:
        return self.filter(is_on=True, surface__is_on=True)

    def able_to_read(self) -> Self:
        """Enabled and authenticated."""
        return self.on().exclude(state=AccountState.AUTH_FAILED)

    def due(self, now: datetime) -> Self:
        """Due for polling and not claimed."""
        is_free = Q(watch_lease_until=None) | Q(watch_lease_until__lte=now)
        return self.able_to_read().filter(is_free, next_watch_at__lte=now)

    def able_to_write(self, now: datetime) -> Self:
        """Accounts whose own state allows writing."""
        lasts = Q(state_until=None) | Q(state_until__gt=now)
        able = self.able_to_read().exclude(Q(state=AccountState.SUSPENDED), lasts)
        return able.filter(Q(quiet_until=None) | Q(quiet_until__lte=now))


class Account(models.Model):
    surface = models.ForeignKey(Surface, models.PROTECT, related_name="accounts")
    name = models.CharField(max_length=120, unique=True, help_text="How operators call it.")
    handle = models.CharField(max_length=120, blank=True)
    remote_id = models.CharField(max_length=200, blank=True)
    sealed_credential = models.BinaryField(default=b"", editable=False)
    mode = models.CharField(max_length=8, choices=ReplyMode, default=ReplyMode.REVIEW)
    is_on = models.BooleanField(default=True)
    # Of the demo, where only its own agents speak; decided when it is made.
    is_demo = models.BooleanField(default=False, editable=False)

    every = models.PositiveSmallIntegerField(
        "minutes between rounds", default=5, validators=between(1, 1440)
    )
    next_watch_at = models.DateTimeField(db_index=False)
    watch_lease_until = models.DateTimeField(null=True, blank=True)
    watched_by = models.CharField(max_length=120, blank=True)
    watch_number = models.PositiveBigIntegerField(default=0)  # fencing: grows with every claim
    cursor = models.JSONField(default=dict, blank=True)

    state = models.CharField(max_length=12, choices=AccountState, default=AccountState.OK)
    state_since = models.DateTimeField()
    state_until = models.DateTimeField(null=True, blank=True)
    state_why = ReasonField()
    quiet_until = models.DateTimeField(
        null=True, blank=True, help_text="The service asked the sender to wait until then."
    )
    identity_note = ReasonField(help_text="What the service says of it, e.g. not claimed yet.")
    challenges_failed = models.PositiveSmallIntegerField(default=0)  # in a row
    made_at = models.DateTimeField(auto_now_add=True)

    objects = AccountQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            # With two accounts of one name, each would answer the same comment.
            models.UniqueConstraint(
                name="account_one_per_name_on_a_surface",
                fields=["surface", "remote_id"],
                condition=~Q(remote_id=""),
            ),
            check("account_every_1_to_1440_minutes", every__range=(1, 1440)),
            check("account_state_is_known", state__in=AccountState.values),
            check("account_mode_is_known", mode__in=ReplyMode.values),
        ]
        indexes = [
            # For `due`: the watcher asks every second.
            models.Index(
                name="account_due",
                fields=["next_watch_at"],
                condition=Q(is_on=True) & ~Q(state="auth_failed"),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def audit_owner(self) -> Owner:
        return self.pk, ""

    @property
    def needs_person(self) -> bool:
        """Whether an operator must act."""
        return self.state in {AccountState.AUTH_FAILED, AccountState.SUSPENDED}

    @property
    def is_well(self) -> bool:
        return self.state == AccountState.OK and not self.identity_note

    @property
    def interval(self) -> timedelta:
        return timedelta(minutes=self.every)

    @property
    def credential(self) -> str:
        """The decrypted token. Only for adapters."""
        try:
            return crypto.decrypt(self.sealed_credential)
        except crypto.InvalidToken:
            # Read the row again, because keys may have been rotated since.
            self.refresh_from_db(fields=["sealed_credential"])
        try:
            return crypto.decrypt(self.sealed_credential)
        except crypto.InvalidToken as error:
            raise BadCredential(reason("account.credential_lost", name=self.name)) from error

    @property
    def is_first_look(self) -> bool:
        """Whether the history was not walked to its end yet. Adapters keep the place."""
        walks = self.cursor.get("walks") or {}
        return any(walk.get("gaps") for walk in walks.values())

    def becomes(
        self,
        state: AccountState,
        *,
        now: datetime,
        why: str | StoredReason = "",
        until: datetime | None = None,
        **facts: Any,
    ) -> bool:
        """Set the state; return whether it changed. `state_since` moves only when it does."""
        rows = Account.objects.filter(pk=self.pk)
        lasts = Q(state=AccountState.SUSPENDED) & (Q(state_until=None) | Q(state_until__gt=now))
        for_a_person = rows.filter(Q(state=AccountState.AUTH_FAILED) | lasts)
        # A later error must not replace one that needs an operator.
        if state in PASSING and for_a_person.exists():
            rows.update(**facts)
            self.refresh_from_db(fields=["state", "state_why", "state_until", *facts])
            return False
        changed = not rows.filter(state=state).exists()
        given = {"state": state, "state_why": as_reason(why), "state_until": until, **facts}
        if changed:
            given["state_since"] = now
        rows.update(**given)
        for name, value in given.items():
            setattr(self, name, value)
        return changed

    def challenge_failed(self) -> int:
        """Count a failure; return the number in a row."""
        Account.objects.filter(pk=self.pk).update(challenges_failed=F("challenges_failed") + 1)
        self.refresh_from_db(fields=["challenges_failed"])
        return self.challenges_failed
