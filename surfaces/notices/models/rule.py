"""Notification rules of operators, and deliveries.

waiting ──> told
   │ └─later─┘
   ├──> dropped   nothing was left to tell
   └──> failed    after the last try
"""

import uuid
from datetime import datetime
from typing import Self
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import CheckConstraint, Index, Q
from django.utils.translation import gettext_lazy as _

from surfaces import crypto
from surfaces.accounts.models.surface import Surface
from surfaces.desk.models import Risk
from surfaces.operators.models.operator import Operator
from surfaces.text.fields import ReasonField


class Channel(models.TextChoices):
    PAGE = "page", _("In the app")
    MAIL = "mail", _("Email")
    WEBHOOK = "webhook", _("Webhook")


class NoticeFrequency(models.TextChoices):
    ONCE = "once", _("Immediately")
    HOURS = "hours", _("Every few hours")
    DAILY = "daily", _("Once a day")


class NoticeDeliveryState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    TOLD = "told", _("delivered")
    FAILED = "failed", _("failed")
    DROPPED = "dropped", _("not sent")


class NoticeRuleQuerySet(models.QuerySet["NoticeRule"]):
    def live(self) -> Self:
        return self.filter(is_on=True, operator__is_active=True)


class NoticeRule(models.Model):
    operator = models.ForeignKey(Operator, models.CASCADE, related_name="notice_rules")
    channel = models.CharField(max_length=8, choices=Channel, default=Channel.PAGE)
    is_on = models.BooleanField(default=True)

    hears_items = models.BooleanField(default=False)
    hears_expiring = models.BooleanField(default=True)
    hears_down = models.BooleanField(default=True)
    hears_house = models.BooleanField(default=True)
    hears_sign_ins = models.BooleanField(default=True)  # of its operator only
    sends_reports = models.BooleanField(default=False)  # of what agents saw and did, by the hour
    # Narrower than what the operator may see. No kinds: every kind.
    kinds = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    only_surfaces = models.BooleanField(default=False)  # also when these were deleted
    surfaces = models.ManyToManyField(Surface, related_name="+", blank=True)
    only_agents = models.BooleanField(default=False)
    agents = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    min_risk = models.PositiveSmallIntegerField(choices=Risk, default=Risk.LOW)
    expires_minutes = models.PositiveSmallIntegerField(default=30)  # this long before
    down_minutes = models.PositiveSmallIntegerField(default=10)  # down for so long

    pace = models.CharField(max_length=6, choices=NoticeFrequency, default=NoticeFrequency.ONCE)
    every_hours = models.PositiveSmallIntegerField(default=4)
    daily_at = models.TimeField(null=True, blank=True)  # in the operator's zone, as the two below
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    urgent_breaks = models.BooleanField(default=True)  # waits for no hour and no digest

    url = models.CharField(max_length=500, blank=True)
    sealed_secret = models.BinaryField(default=b"", editable=False)
    from_item = models.BigIntegerField(default=0)  # only desk items that came after this one
    since = models.DateTimeField()
    last_told_at = models.DateTimeField(null=True, blank=True)

    objects = NoticeRuleQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            CheckConstraint(
                name="notice_rule_channel_is_known", condition=Q(channel__in=Channel.values)
            ),
            CheckConstraint(
                name="notice_rule_pace_is_known", condition=Q(pace__in=NoticeFrequency.values)
            ),
            CheckConstraint(
                name="notice_rule_quiet_has_two_ends",
                condition=Q(quiet_from=None, quiet_to=None)
                | (
                    Q(quiet_from__isnull=False, quiet_to__isnull=False)
                    & ~Q(quiet_from=models.F("quiet_to"))
                ),
            ),
            CheckConstraint(
                name="notice_rule_daily_has_an_hour",
                condition=~Q(pace="daily") | Q(daily_at__isnull=False),
            ),
            CheckConstraint(
                name="notice_rule_numbers_are_sane",
                condition=Q(expires_minutes__range=(1, 1440))
                & Q(down_minutes__range=(0, 1440))
                & Q(every_hours__range=(1, 12)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} to {self.operator_id}"

    @property
    def ledger_name(self) -> str:
        return f"notice_rule:{self.pk}"

    @property
    def way(self) -> str:
        """Nobody is told of one thing twice by one way. Each webhook is a way of its own."""
        return f"webhook-{self.pk}" if self.channel == Channel.WEBHOOK else self.channel

    @property
    def zone(self) -> ZoneInfo:
        return self.operator.zone

    @property
    def secret(self) -> str:
        """In the clear. For signing, and for nothing else."""
        return crypto.decrypt(self.sealed_secret)


class DeliveryQuerySet(models.QuerySet["NoticeDelivery"]):
    def due(self, now: datetime) -> Self:
        free = Q(lease_until=None) | Q(lease_until__lte=now)
        return self.filter(free, state=NoticeDeliveryState.WAITING, due_at__lte=now)


class NoticeDelivery(models.Model):
    rule = models.ForeignKey(NoticeRule, models.CASCADE, related_name="deliveries", db_index=False)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)  # of every try
    is_test = models.BooleanField(default=False)
    made_at = models.DateTimeField()
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(
        max_length=8, choices=NoticeDeliveryState, default=NoticeDeliveryState.WAITING
    )
    told_at = models.DateTimeField(null=True, blank=True)
    count = models.PositiveIntegerField(default=0)  # of things told
    why = ReasonField()

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            CheckConstraint(
                name="notice_delivery_state_is_known",
                condition=Q(state__in=NoticeDeliveryState.values),
            )
        ]
        indexes = [
            # For `due`: asked every minute.
            Index(name="notice_delivery_due", fields=["due_at"], condition=Q(state="waiting")),
            # For the log of one rule.
            Index(name="notice_delivery_log", fields=["rule", "-id"]),
            # For putting old ones away.
            Index(name="notice_delivery_old", fields=["made_at"]),
        ]

    def __str__(self) -> str:
        return f"delivery {self.key}"
