"""Deliver notices: claim, commit, then mail or webhook, then record the outcome.

A worker killed in between leaves a claim that lapses; the delivery is tried again under the same
id, which mail programs and receivers know a repetition by.
"""

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
from surfaces.notices import content, dispatch, email, schedule
from surfaces.notices.email import EmailResult
from surfaces.notices.models.notice import Notice, NoticeState
from surfaces.notices.models.rule import Channel, NoticeDelivery, NoticeDeliveryState, NoticeRule
from surfaces.notices.recipients import hours_of
from surfaces.text.reasons import as_reason, reason

Clock = Callable[[], datetime]
Transport = httpx.BaseTransport | None
LEASE = timedelta(minutes=5)  # well over what a mail or a call may take
LONGEST = 120.0  # seconds of one round; the rest waits for the next
# How long to wait after each failed try; after the last, it has failed.
WAITS = [timedelta(minutes=minutes) for minutes in (1, 5, 20, 60, 180)]


@dataclass(slots=True)
class DeliveryResult:
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
    transport: Transport = None,
    resolve: safe_urls.Resolve = safe_urls.system_resolve,
) -> DeliveryResult:
    """Deliver until nothing is due. A mail server that is away is asked once in a round."""
    told, ends, is_mail_away = DeliveryResult(), time.monotonic() + LONGEST, False
    while time.monotonic() < ends:
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
    delivery.save(update_fields=["lease_until", "tries"])
    return delivery


def _send(
    delivery: NoticeDelivery, now: datetime, transport: Transport, resolve: safe_urls.Resolve
) -> EmailResult:
    rule = delivery.rule
    notices, count = _still_news(delivery)
    if not count and not delivery.is_test:
        return EmailResult(is_needless=True, why="notice.needless")
    if not rule.is_on and not delivery.is_test:
        return EmailResult(is_needless=True, why=dispatch.IS_OFF)
    delivery.count = count
    if rule.channel == Channel.MAIL:
        return email.send(content.mail(delivery, notices, now=now))
    return _call(delivery, notices, now, transport, resolve)


@transaction.atomic
def _still_news(delivery: NoticeDelivery) -> tuple[list[Notice], int]:
    """The first of what is still to be told, and how many there are in all."""
    ours = Notice.objects.filter(delivery=delivery.pk, state=NoticeState.DUE)
    dispatch.theirs_only(ours, delivery.rule)
    gone = ~Exists(DeskItem.objects.filter(pk=OuterRef("desk_item")))
    while dispatch.close_handled(ours.exclude(desk_item=None).filter(gone)) == dispatch.AT_ONCE:
        pass
    first = ours.select_related("account__surface").order_by("-is_urgent", "id")
    return list(first[: content.MOST_SHOWN]), ours.count()


def _call(
    delivery: NoticeDelivery,
    notices: list[Notice],
    now: datetime,
    transport: Transport,
    resolve: safe_urls.Resolve,
) -> EmailResult:
    rule, private = delivery.rule, settings.WAKE_PRIVATE_ADDRESSES
    body = content.body(delivery, notices, now=now)
    try:
        pinned = safe_urls.check_url(rule.url, resolve=resolve, allow_private=private)
        way = transport or safe_urls.PinnedTransport(pinned, seconds=webhooks.SECONDS)
        key, secret = str(delivery.key), rule.secret
        call = webhooks.signed_call(pinned.url, body, key=key, secret=secret, at=now)
        heard = webhooks.post(call, transport=way, now=now)
    except safe_urls.UnsafeUrl as error:
        return EmailResult(why=error.reason)
    except crypto.InvalidToken:
        return EmailResult(why=reason("notice.secret_lost"))
    is_gone = heard.status == webhooks.GONE
    return EmailResult(is_taken=heard.is_taken, is_final=is_gone, why=heard.why, wait=heard.wait)


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
    rule = delivery.rule
    # Who says it is gone is not asked again, unless a person gave another address meanwhile.
    is_gone = sent.is_final and rule.channel == Channel.WEBHOOK
    same = NoticeRule.objects.filter(pk=rule.pk, url=rule.url, is_on=True)
    if is_gone and same.update(is_on=False):
        AuditEvent.objects.record("notice_rule.gone", actor="system", subject=rule, why=sent.why)
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
    at = now + max(WAITS[delivery.tries - 1], sent.wait or timedelta())
    urgent = Notice.objects.filter(delivery=delivery.pk, is_urgent=True, state=NoticeState.DUE)
    if not (delivery.rule.urgent_breaks and urgent.exists()):
        at = schedule.free_at(at, hours_of(delivery.rule))
    return NoticeDeliveryState.WAITING, at
