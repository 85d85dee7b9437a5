"""One round of notifications. Safe in several processes.

The flow is drawn in `surfaces.notices`. Whoever finds another round at work leaves the gathering
to it, and only delivers what is due.
"""

from datetime import datetime, timedelta

import httpx
from django.db import connection, transaction

from surfaces.net import safe_urls
from surfaces.notices import collect, dispatch, recipients
from surfaces.notices import delivery as notice_delivery
from surfaces.notices.delivery import Clock, DeliveryResult
from surfaces.notices.models.notice import Notice, NoticeReason
from surfaces.notices.models.rule import NoticeDelivery

ONE_AT_A_TIME = 0x5C4EDA2A  # advisory lock
KEPT = timedelta(days=60)


def run_round(
    *,
    clock: Clock,
    transport: httpx.BaseTransport | None = None,
    resolve: safe_urls.Resolve = safe_urls.system_resolve,
) -> DeliveryResult:
    """Gather, settle, fold, commit; then mail and call."""
    prepare(clock())
    return notice_delivery.deliver_due(clock=clock, transport=transport, resolve=resolve)


@transaction.atomic(durable=True)
def prepare(now: datetime) -> bool:
    """Everything before the network; return whether it was ours to do."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_AT_A_TIME])
        if not cursor.fetchone()[0]:
            return False
    collect.settle_in(now)
    collect.collect(recipients.live(), now)
    dispatch.drop_handled(now)
    dispatch.hold(now)
    dispatch.show(now)
    dispatch.fold(now)
    return True


def prune(now: datetime) -> None:
    """Forget what is old. An outage that goes on is remembered, or it would be told again."""
    old = Notice.objects.filter(made_at__lt=now - KEPT)
    old.exclude(reason=NoticeReason.DOWN, over_at=None).delete()
    NoticeDelivery.objects.filter(made_at__lt=now - KEPT).delete()
