"""Tell operators what waits for them: one round, safe to run twice at once.

The flow is drawn in `surfaces.notices`. Whoever finds another round at work leaves the gathering
to it, and only delivers what is due.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
from django.db import connection, transaction

from surfaces import addresses
from surfaces.models import Notice, NoticeDelivery
from surfaces.models.notice import Reason
from surfaces.notices import delivering, gathering, hearers, settling
from surfaces.notices.delivering import Told

Clock = Callable[[], datetime]
ONE_AT_A_TIME = 0x5C4EDA2A  # advisory lock
KEPT = timedelta(days=60)


def go_round(
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: httpx.BaseTransport | None = None,
    resolve: addresses.Resolve = addresses.system_resolve,
) -> Told:
    """Gather, settle, fold, commit; then mail and call."""
    prepare(clock())
    return delivering.deliver_due(clock=clock, until=until, transport=transport, resolve=resolve)


@transaction.atomic(durable=True)
def prepare(now: datetime) -> bool:
    """Everything before the network; return whether it was ours to do."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_AT_A_TIME])
        if not cursor.fetchone()[0]:
            return False
    gathering.settle_in(now)
    gathering.gather(hearers.live(), now)
    settling.handled(now)
    settling.held(now)
    settling.show(now)
    settling.fold(now)
    return True


def put_away(now: datetime) -> None:
    """Forget what is old. An outage that goes on is remembered, or it would be told again."""
    old = Notice.objects.filter(made_at__lt=now - KEPT)
    old.exclude(reason=Reason.DOWN, over_at=None).delete()
    NoticeDelivery.objects.filter(made_at__lt=now - KEPT).delete()
