"""Poll accounts, store new items, classify them. A round never raises.

    claim ─> news ─> threads with news ─> stored once ─> judged ─> report
               └─ what the surface says nothing about: in rotation, all within a day

A claim expires when its watcher dies; a late watcher's claim number no longer
matches, and it stops.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from surfaces.accounts.clients import Clock, open_reader
from surfaces.accounts.models.account import Account, AccountState
from surfaces.accounts.services import recover, stop_account
from surfaces.adapters.base import Reader
from surfaces.adapters.types import Item, Skipped
from surfaces.errors import (
    AuthFailed,
    Limited,
    PaymentRequired,
    Refused,
    SurfaceError,
    Suspended,
    TryLater,
)
from surfaces.messages.store import StoreResult, note_thread, store
from surfaces.spam import classify
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.watcher.models import WatchRound
from surfaces.watcher.thread_selection import LEFT, MOST_LEFT, known_posts, to_read, turned

logger = logging.getLogger(__name__)
Transport = httpx.BaseTransport | None

LEASE = timedelta(seconds=120)  # renewed after every thread
MOST_THREADS = 200  # per round
REASONS_KEPT = 20
FAILURES_IN_A_ROW = 3  # threads that cannot be read: then it is not the thread


class ClaimLost(Exception):
    """Another watcher has claimed this account."""


@dataclass(slots=True)
class WatchReport:
    seen: int = 0
    threads: int = 0
    stored: StoreResult = field(default_factory=StoreResult)
    skipped: list[Skipped] = field(default_factory=list)


def watch_due(
    *,
    worker: str,
    clock: Clock = timezone.now,
    until: Callable[[], bool] = lambda: False,
    transport: Transport = None,
) -> list[WatchRound]:
    """Poll all due accounts, or as many as fit before `until`."""
    rounds: list[WatchRound] = []
    while not until() and (account := claim(worker=worker, now=clock())):
        rounds.append(_round(account, clock=clock, transport=transport))
    return rounds


def round_of(
    account: Account, *, clock: Clock = timezone.now, transport: Transport = None
) -> WatchRound | None:
    now = clock()
    is_free = Q(watch_lease_until=None) | Q(watch_lease_until__lte=now)
    free = Account.objects.filter(is_free, pk=account.pk)
    if not _take(free, account.interval, worker="by hand", now=now):
        return None
    claimed = Account.objects.select_related("surface").get(pk=account.pk)
    return _round(claimed, clock=clock, transport=transport)


@transaction.atomic(durable=True)
def claim(*, worker: str, now: datetime) -> Account | None:
    due = Account.objects.due(now).select_related("surface").order_by("next_watch_at", "pk")
    account = due.select_for_update(of=("self",), skip_locked=True).first()
    if account:
        _take(Account.objects.filter(pk=account.pk), account.interval, worker=worker, now=now)
        account.watch_number += 1
    return account


def _take(free: Any, interval: timedelta, *, worker: str, now: datetime) -> int:
    times = {"watch_lease_until": now + LEASE, "next_watch_at": now + interval}
    return int(free.update(watched_by=worker, watch_number=F("watch_number") + 1, **times))


def _round(account: Account, *, clock: Clock, transport: Transport) -> WatchRound:
    """Read `account`; whatever goes wrong ends in the round's outcome, never beyond."""
    report, started_at, requests = WatchReport(), clock(), 0
    outcome: StoredReason | str = ""
    facts: dict[str, Any] = {}
    try:
        reader = open_known_reader(account, clock=clock, transport=transport)
        try:
            facts = _read(account, reader, report, clock=clock)
        finally:
            requests = getattr(reader.access.meter, "requests", 0)
            reader.close()
        _well(account, now=clock())
    except ClaimLost:
        outcome = "watch.taken_over"
    except SurfaceError as error:
        outcome = error.reason
        _unwell(account, error, now=clock())
    except DatabaseError as error:
        outcome = reason("watch.database_failed", name=type(error).__name__)
        logger.error("a round lost its database", extra={"account_id": account.pk})
        connection.close()
    except Exception as error:
        outcome = reason("watch.program_failed", name=type(error).__name__)
        logger.exception("a round failed in us", extra={"account_id": account.pk})
    return _finish(account, report, outcome, facts, started_at, requests, now=clock())


def _read(account: Account, reader: Reader, report: WatchReport, *, clock: Clock) -> dict[str, Any]:
    known = known_posts(account)
    news = reader.news(known, account.cursor)
    report.skipped += news.skipped
    _store(account, news.posts, report, now=clock())
    failures, left = 0, []
    chosen = to_read(account, known, news, now=clock())
    for post_id in turned(chosen[:MOST_THREADS], account.watch_number):
        # Renew the claim, or stop: a round that lost it must not go on.
        mine = Account.objects.filter(pk=account.pk, watch_number=account.watch_number)
        if not mine.update(watch_lease_until=clock() + LEASE):
            raise ClaimLost
        try:
            count = news.counts.get(post_id)
            read_thread(account, reader, post_id, report, clock=clock, count=count)
            failures = 0
        except (Refused, TryLater) as error:
            failures += 1
            if isinstance(error, Limited) or failures >= FAILURES_IN_A_ROW:
                raise
            report.skipped.append(Skipped(post_id, reason("watch.thread", error=error.reason)))
            if not (isinstance(error, Refused) and error.permanent):
                left.append(post_id)
    left += chosen[MOST_THREADS:]
    return {"cursor": {**news.cursor, LEFT: left[:MOST_LEFT]}}


def open_known_reader(account: Account, *, clock: Clock, transport: Transport = None) -> Reader:
    if not account.remote_id:
        with closing(open_reader(account, clock=clock, transport=transport)) as asking:
            identity = asking.who_am_i()
        facts = {"handle": identity.handle[:120], "remote_id": identity.remote_id[:200]}
        try:
            with transaction.atomic():
                Account.objects.filter(pk=account.pk).update(**facts)
        except IntegrityError as error:  # one name there is one account here
            raise AuthFailed(reason("account.connected_twice", handle=identity.handle)) from error
        account.handle, account.remote_id = facts["handle"], facts["remote_id"]
    return open_reader(account, clock=clock, transport=transport)


def read_thread(
    account: Account,
    reader: Reader,
    post_id: str,
    report: WatchReport,
    *,
    clock: Clock,
    count: int | None = None,
) -> None:
    """Read one thread whole and store it. `count`: what the service just said it holds."""
    thread = reader.thread(post_id, count=count)
    report.threads += 1
    report.skipped += thread.skipped
    items = [*([thread.root] if thread.root else []), *thread.comments]
    report.seen += len(items)
    _store(account, items, report, now=clock())
    report.stored.deleted += note_thread(account, post_id, thread, now=clock(), count=count)


def _store(account: Account, items: Sequence[Item], report: WatchReport, *, now: datetime) -> None:
    report.stored.add(store(account, items, now=now, judge=classify.classify_items))


def _well(account: Account, *, now: datetime) -> None:
    """It answered: down and over are over; a suspension is about writing and stays."""
    fresh = Account.objects.get(pk=account.pk)
    may_end = fresh.state in {AccountState.LIMITED, AccountState.SUSPENDED}
    is_over = may_end and fresh.state_until is not None and fresh.state_until <= now
    if fresh.state == AccountState.DOWN or is_over:
        recover(account, now=now)


def _unwell(account: Account, error: SurfaceError, *, now: datetime) -> None:
    if isinstance(error, Limited):
        until = now + error.wait
        account.becomes(AccountState.LIMITED, now=now, why=error.reason, until=until)
        _watch_no_sooner(account, until)
    elif isinstance(error, AuthFailed | Suspended | PaymentRequired):
        stop_account(account, error, now=now)
    else:
        account.becomes(AccountState.DOWN, now=now, why=error.reason)
        if isinstance(error, TryLater) and error.wait:
            _watch_no_sooner(account, now + error.wait)


def _watch_no_sooner(account: Account, until: datetime) -> None:
    Account.objects.filter(pk=account.pk, next_watch_at__lt=until).update(next_watch_at=until)


def _finish(
    account: Account,
    report: WatchReport,
    outcome: StoredReason | str,
    facts: dict[str, Any],
    started_at: datetime,
    requests: int,
    *,
    now: datetime,
) -> WatchRound:
    done = report.stored
    row = WatchRound(
        account=account, started_at=started_at, ended_at=now, outcome=outcome,
        requests=requests, threads=report.threads, seen=report.seen,
        stored=done.new, edited=done.edited, deleted=done.deleted,
        suspect=done.suspect, spam=done.spam, skipped=len(report.skipped),
        skipped_why=[[s.remote_id[:100], as_reason(s.why)] for s in report.skipped[:REASONS_KEPT]],
    )  # fmt: skip
    try:
        row.save(force_insert=True)
        mine = Account.objects.filter(pk=account.pk, watch_number=account.watch_number)
        mine.update(watch_lease_until=None, **facts)
    except DatabaseError:
        logger.error("a round could not be written down", extra={"account_id": account.pk})
        connection.close()
    for skipped in report.skipped[:REASONS_KEPT]:
        extra = {"account_id": account.pk, "remote_id": skipped.remote_id}
        logger.info("an item was skipped", extra={**extra, "why": str(as_reason(skipped.why))})
    return row
