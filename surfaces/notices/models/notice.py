"""Notice: one event for one operator by one channel, once.

due ──> told
 ├────> handled   somebody was faster
 └────> dropped   and `why`
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Self

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from surfaces.accounts.models.account import Account
from surfaces.notices.models.rule import NoticeDelivery, NoticeRule
from surfaces.operators.models.operator import Operator
from surfaces.text.fields import ReasonField

AT_ONCE = 1_000  # rows written in one statement
LONGEST_WORDS = 200  # characters of what somebody said, in a notice


class NoticeReason(models.TextChoices):
    WAITS = "waits", _("Needs a decision")
    EXPIRES = "expires", _("Expires")
    DOWN = "down", _("Down")
    BACK = "back", _("Recovered")
    PAUSED = "paused", _("Paused")
    HOUSE = "house", _("Instance")
    SIGN_IN = "sign_in", _("Sign-in")
    REPORT = "report", _("Agent report")


class NoticeState(models.TextChoices):
    DUE = "due", _("due")
    TOLD = "told", _("delivered")
    HANDLED = "handled", _("handled")
    DROPPED = "dropped", _("skipped")


class NoticeCursor(models.Model):
    """How far the desk was read. It moves only past what no running transaction can add."""

    through = models.BigIntegerField(default=0)
    candidate = models.BigIntegerField(default=0)
    horizon = models.BigIntegerField(default=0)  # a transaction id

    class Meta:
        constraints = [CheckConstraint(name="notice_mark_is_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"through {self.through}"


class NoticeQuerySet(models.QuerySet["Notice"]):
    def due(self, now: datetime) -> Self:
        return self.filter(state=NoticeState.DUE, delivery=None, due_at__lte=now)

    def on_page(self, operator: Operator) -> Self:
        return self.filter(operator=operator, is_on_page=True)

    def unread(self) -> Self:
        return self.filter(is_on_page=True, read_at=None)

    def within_reach(self, operator: Operator) -> Self:
        """What that person may see now. What concerns the house is for who sees all of it."""
        reach = operator.reach
        if reach.is_whole:
            return self
        of_an_agent = Q(account=None) & ~Q(agent="")
        if reach.agents is not None:
            of_an_agent &= Q(agent__in=sorted(reach.agents))
        theirs = Q(reason__in=[NoticeReason.PAUSED, NoticeReason.SIGN_IN])
        of_the_house = theirs | of_an_agent
        return reach.narrow(self.exclude(account=None)) | self.filter(of_the_house)

    def keep(self, notices: Iterable[Notice]) -> None:
        left = iter(notices)
        while some := list(islice(left, AT_ONCE)):
            self.bulk_create(some, ignore_conflicts=True)


class Notice(models.Model):
    operator = models.ForeignKey(Operator, models.CASCADE, related_name="notices", db_index=False)
    rule = models.ForeignKey(
        NoticeRule, models.SET_NULL, null=True, related_name="notices", db_index=False
    )
    delivery = models.ForeignKey(
        NoticeDelivery, models.SET_NULL, null=True, related_name="notices", db_index=False
    )
    way = models.CharField(max_length=24)  # `NoticeRule.way`
    subject = models.CharField(max_length=120)  # item:12, account:3@1763726400, pause:4
    reason = models.CharField(max_length=8, choices=NoticeReason)

    desk_item = models.BigIntegerField(null=True)  # id of the desk's row, while it is there
    kind = models.CharField(max_length=20, blank=True)
    item_id = models.BigIntegerField(null=True)
    account = models.ForeignKey(
        Account, models.CASCADE, null=True, related_name="+", db_index=False
    )
    agent = models.CharField(max_length=64, blank=True)
    author = models.CharField(max_length=80, blank=True)
    words = ReasonField()  # the beginning of what somebody said, or what happened
    moment = models.DateTimeField()  # since when, or until when: what the reason is about
    is_urgent = models.BooleanField(default=False)

    state = models.CharField(max_length=8, choices=NoticeState, default=NoticeState.DUE)
    why = ReasonField()  # it is put off, or was not told
    made_at = models.DateTimeField()
    due_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)
    is_on_page = models.BooleanField(default=False)
    read_at = models.DateTimeField(null=True)
    over_at = models.DateTimeField(null=True)  # an outage: it ended

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Nothing is told twice.
            UniqueConstraint(name="notice_once", fields=["operator", "way", "subject", "reason"]),
            CheckConstraint(
                name="notice_state_is_known", condition=Q(state__in=NoticeState.values)
            ),
            CheckConstraint(
                name="notice_reason_is_known", condition=Q(reason__in=NoticeReason.values)
            ),
        ]
        indexes = [
            # For `due`, rule by rule, every minute.
            Index(
                name="notice_due",
                fields=["rule", "due_at"],
                condition=Q(state="due", delivery=None),
            ),
            # For what one delivery tells.
            Index(
                name="notice_of_delivery",
                fields=["delivery", "-is_urgent", "id"],
                condition=Q(delivery__isnull=False),
            ),
            # For the page.
            Index(name="notice_on_page", fields=["operator", "-id"], condition=Q(is_on_page=True)),
            # For the bell.
            Index(
                name="notice_unread",
                fields=["operator", "desk_item"],
                condition=Q(is_on_page=True, read_at=None),
            ),
            # For the log of all that was told to somebody, or was not.
            Index(name="notice_log", fields=["operator", "-id"]),
            # For telling who heard of an outage that it is over: few.
            Index(
                name="notice_outage", fields=["account"], condition=Q(reason="down", over_at=None)
            ),
            # For putting old ones away.
            Index(name="notice_old", fields=["made_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.subject}"
