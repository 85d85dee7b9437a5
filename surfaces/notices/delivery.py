"""Deliver notices: claim, commit, then mail or webhook, then record the outcome.

A worker killed in between leaves a claim that lapses; the delivery is tried again under the same
id, which mail programs and receivers know a repetition by.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from surfaces import crypto
from surfaces.audit.models import AuditEvent
from surfaces.desk.models import DeskItem
from surfaces.net import safe_urls, webhooks
from surfaces.net.webhooks import CallResult
from surfaces.notices import (
    content as notice_content,
)
from surfaces.notices import (
    dispatch,
)
from surfaces.notices import (
    email as notice_email,
)
from surfaces.notices import (
    schedule as notice_schedule,
)
from surfaces.notices.email import EmailResult
from surfaces.notices.models.notice import Notice, NoticeState
from surfaces.notices.models.rule import Channel, NoticeDelivery, NoticeDeliveryState, NoticeRule
from surfaces.notices.recipients import hours_of
from surfaces.text.reasons import StoredReason, as_reason, reason

Clock = Callable[[], datetime]
LEASE = timedelta(minutes=5)  # well over what a mail or a call may take
LONGEST = 120.0  # seconds of one round; the rest waits for the next
# How long to wait after each failed try; after the last, it has failed.
WAITS = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=20),
    timedelta(hours=1),
    timedelta(hours=3),
]


@dataclass(slots=True)
class DeliveryResult:
    """What one round did, in mails and calls."""

    told: int = 0
    later: int = 0
    failed: int = 0
    dropped: int = 0

    def count(self, state: str) -> None:
        self.told += state == NoticeDeliveryState.TOLD
        self.later += state == NoticeDeliveryState.WAITING
        self.failed += state == NoticeDeliveryState.FAILED
        self.dropped += state == NoticeDeliveryState.DROPPED


def deliver_due(
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
    resolve: safe_urls.Resolve = safe_urls.system_resolve,
) -> DeliveryResult:
    """Deliver until nothing is due. A mail server that is away is asked once in a round."""
    told, ends, is_mail_away = DeliveryResult(), time.monotonic() + LONGEST, False
    while not until() and time.monotonic() < ends:
        delivery = claim(now=clock(), without_mail=is_mail_away)
        if delivery is None:
            break
        sent = _send(delivery, clock(), transport, resolve)
        is_mail_away = is_mail_away or sent.is_server_away
        told.count(_record(delivery, sent, now=clock()))
    return told


@transaction.atomic(durable=True)
def claim(*, now: datetime, without_mail: bool = False) -> NoticeDelivery | None:
    """Take the delivery that has waited longest; its try is counted from here."""
    due = NoticeDelivery.objects.due(now).order_by("due_at", "id")
    if without_mail:
        due = due.exclude(rule__channel=Channel.MAIL)
    locked = due.select_for_update(of=("self",), skip_locked=True)
    delivery = locked.select_related("rule__operator").first()
    if delivery is None:
        return None
    delivery.lease_until, delivery.tries = now + LEASE, delivery.tries + 1
    NoticeDelivery.objects.filter(pk=delivery.pk).update(
        lease_until=delivery.lease_until, tries=delivery.tries
    )
    return delivery


# ── telling ───────────────────────────────────────────────────────────────


def _send(
    delivery: NoticeDelivery,
    now: datetime,
    transport: httpx.BaseTransport | None,
    resolve: safe_urls.Resolve,
) -> EmailResult:
    rule = delivery.rule
    notices, count = _still_news(delivery)
    if not count and not delivery.is_test:
        return EmailResult(is_needless=True, why="notice.needless")
    if not rule.is_on and not delivery.is_test:
        return EmailResult(is_needless=True, why=dispatch.IS_OFF)
    delivery.count = count
    if rule.channel == Channel.MAIL:
        return notice_email.send(notice_content.mail(delivery, notices, now=now))
    heard = _call(delivery, notices, now, transport, resolve)
    return EmailResult(
        is_taken=heard.is_taken,
        is_final=heard.status == webhooks.GONE,
        why=heard.why,
        wait=heard.wait,
    )


@transaction.atomic
def _still_news(delivery: NoticeDelivery) -> tuple[list[Notice], int]:
    """The first of what is still to be told, and how many there are in all."""
    ours = Notice.objects.filter(delivery=delivery.pk, state=NoticeState.DUE)
    dispatch.theirs_only(ours, delivery.rule)
    gone = ~Exists(DeskItem.objects.filter(pk=OuterRef("desk_item")))
    while dispatch.close_handled(ours.exclude(desk_item=None).filter(gone)) == dispatch.AT_ONCE:
        pass
    first = ours.select_related("account__surface").order_by("-is_urgent", "id")
    return list(first[: notice_content.MOST_SHOWN]), ours.count()


def _call(
    delivery: NoticeDelivery,
    notices: list[Notice],
    now: datetime,
    transport: httpx.BaseTransport | None,
    resolve: safe_urls.Resolve,
) -> CallResult:
    """Check, pin, sign, call: as agents elsewhere are called."""
    rule, private = delivery.rule, settings.WAKE_PRIVATE_ADDRESSES
    body = notice_content.body(delivery, notices, now=now)
    try:
        pinned = safe_urls.check_url(rule.url, resolve=resolve, allow_private=private)
        way = transport or safe_urls.PinnedTransport(pinned, seconds=webhooks.SECONDS)
        call = webhooks.signed_call(
            pinned.url, body, key=str(delivery.key), secret=rule.secret, at=now
        )
        return webhooks.post(call, transport=way, now=now)
    except safe_urls.UnsafeUrl as error:
        return CallResult(why=error.reason)
    except crypto.InvalidToken:
        return CallResult(why=reason("notice.secret_lost"))


# ── what came of it ───────────────────────────────────────────────────────


@transaction.atomic
def _record(delivery: NoticeDelivery, sent: EmailResult, *, now: datetime) -> str:
    """Write the outcome down, unless somebody took the delivery over while we were slow."""
    state, due_at = _outcome(delivery, sent, now)
    ours = NoticeDelivery.objects.filter(
        pk=delivery.pk, state=NoticeDeliveryState.WAITING, lease_until=delivery.lease_until
    )
    facts = {"told_at": now, "count": delivery.count} if state == NoticeDeliveryState.TOLD else {}
    if not ours.update(state=state, due_at=due_at, lease_until=None, why=sent.why, **facts):
        return ""
    due = Notice.objects.filter(delivery=delivery.pk, state=NoticeState.DUE)
    if state == NoticeDeliveryState.TOLD:
        due.update(state=NoticeState.TOLD, told_at=now, why="")
    elif state == NoticeDeliveryState.FAILED:  # then the page tells it
        why = reason("notice.not_sent", why=as_reason(sent.why))
        due.update(state=NoticeState.DROPPED, why=why, is_on_page=True)
    elif state == NoticeDeliveryState.DROPPED:
        due.update(state=NoticeState.DROPPED, why=sent.why)
    if sent.is_final and delivery.rule.channel == Channel.WEBHOOK:
        _switch_off(delivery.rule, sent.why)
    return state


def _outcome(
    delivery: NoticeDelivery, sent: EmailResult, now: datetime
) -> tuple[NoticeDeliveryState, datetime]:
    if sent.is_needless:
        return NoticeDeliveryState.DROPPED, delivery.due_at
    if sent.is_taken:
        return NoticeDeliveryState.TOLD, delivery.due_at
    if sent.is_final or delivery.is_test or delivery.tries > len(WAITS):
        return NoticeDeliveryState.FAILED, delivery.due_at
    wait = max(WAITS[delivery.tries - 1], sent.wait or timedelta())
    return NoticeDeliveryState.WAITING, _not_in_quiet_hours(delivery, now + wait)


def _not_in_quiet_hours(delivery: NoticeDelivery, at: datetime) -> datetime:
    rule = delivery.rule
    urgent = Notice.objects.filter(delivery=delivery.pk, is_urgent=True, state=NoticeState.DUE)
    if rule.urgent_breaks and urgent.exists():
        return at
    return notice_schedule.free_at(at, hours_of(rule))


def _switch_off(rule: NoticeRule, why: StoredReason | str) -> None:
    """Who says it is gone is not asked again, unless a person gave another address meanwhile."""
    if NoticeRule.objects.filter(pk=rule.pk, url=rule.url, is_on=True).update(is_on=False):
        AuditEvent.objects.record("notice_rule.gone", actor="system", subject=rule, why=why)
