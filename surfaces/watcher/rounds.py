"""Poll accounts, store new items, classify them. A round never raises.

    claim ─> news ─> threads with news ─> stored once ─> judged ─> report
               └─ what the surface says nothing about: in rotation, all within a day

A claim expires when its watcher dies; a late watcher's claim number no longer
matches, and it stops.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from surfaces.accounts.clients import Clock, open_reader
from surfaces.accounts.models.account import Account, AccountState
from surfaces.accounts.models.surface import Surface
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
from surfaces.messages.store import (
    StoreResult,
    note_checked,
    note_thread,
    store,
    store_scores,
)
from surfaces.spam import classify
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.watcher.models import WatchRound
from surfaces.watcher.own_replies import claim_own
from surfaces.watcher.thread_selection import LEFT, MOST_LEFT, known_posts, to_read, turned
from surfaces.workers.at_once import do_at_once

logger = logging.getLogger(__name__)
Transport = httpx.BaseTransport | None

LEASE = timedelta(seconds=120)  # renewed after every thread
AT_ONCE = 8  # rounds in one watcher process
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
    cursor: dict[str, Any] | None = None  # where the next round goes on


def watch_due(
    *,
    worker: str,
    clock: Clock = timezone.now,
    until: Callable[[], bool] = lambda: False,
    transport: Transport = None,
) -> list[WatchRound]:
    """Poll all due accounts one after the other, or as many as fit before `until`."""
    return [*watch_at_once(1, worker=worker, clock=clock, until=until, transport=transport)]


def watch_at_once(
    at_once: int,
    *,
    worker: str,
    clock: Clock = timezone.now,
    until: Callable[[], bool] = lambda: False,
    transport: Transport = None,
) -> Iterator[WatchRound]:
    """Poll all due accounts, several at once, each in its thread; yield rounds as they end."""

    def claimed(running: Sequence[Account]) -> Account | None:
        return claim(worker=worker, now=clock(), running=running, at_once=at_once)

    def done(account: Account) -> WatchRound:
        return _round(account, clock=clock, transport=transport)

    return do_at_once(claimed, done, most=at_once, until=until)


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
def claim(
    *, worker: str, now: datetime, running: Sequence[Account] = (), at_once: int = 1
) -> Account | None:
    """Claim the account that is due for longest. `running`: whose rounds this process runs now.

    One surface gets at most half of the rounds, so that one that hangs delays its own accounts.
    """
    due = Account.objects.due(now).select_related("surface").order_by("next_watch_at", "pk")
    counts = Counter(account.surface_id for account in running)
    if full := [surface for surface, count in counts.items() if count >= at_once // 2]:
        due = due.exclude(surface__in=full)
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
    try:
        reader = open_reader(account, clock=clock, transport=transport)
        try:
            identify(account, reader)
            _read(account, reader, report, clock=clock)
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
    return _finish(account, report, outcome, started_at, requests, now=clock())


def _read(account: Account, reader: Reader, report: WatchReport, *, clock: Clock) -> None:
    known = known_posts(account)
    news = reader.news(known, account.cursor)
    report.skipped += news.skipped
    _store(account, news.posts, report, now=clock())
    store_scores(account, news.scores)
    note_checked(account, [p for p in news.counts if p in known], now=clock())
    chosen = to_read(account, known, news, now=clock())
    queue = turned(chosen.news[:MOST_THREADS], account.watch_number)
    left = dict.fromkeys(chosen.news)
    report.cursor = {**news.cursor, LEFT: [*left][:MOST_LEFT]}
    failures = 0
    for post_id in [*queue, *chosen.rotation]:
        # Renew the claim, or stop: a round that lost it must not go on.
        mine = Account.objects.filter(pk=account.pk, watch_number=account.watch_number)
        if not mine.update(watch_lease_until=clock() + LEASE):
            raise ClaimLost
        is_rotation = post_id not in left
        try:
            count = news.counts.get(post_id)
            was = known[post_id].comment_count if is_rotation else None
            read_thread(account, reader, post_id, report, clock=clock, count=count, known=was)
            failures = 0
            left.pop(post_id, None)
        except (Refused, TryLater) as error:
            if isinstance(error, Limited) and not error.asked:
                break  # our own limit: the rest is left for the next round
            failures += 1
            if isinstance(error, Limited) or failures >= FAILURES_IN_A_ROW:
                raise
            report.skipped.append(Skipped(post_id, reason("watch.thread", error=error.reason)))
            if isinstance(error, Refused) and error.permanent:
                left.pop(post_id, None)
        finally:
            report.cursor[LEFT] = [*left][:MOST_LEFT]


def identify(account: Account, reader: Reader) -> None:
    """Ask who we are and what is spoken here, where it is not known; counted with the requests of
    `reader`. An account with a note, such as "not claimed yet", is asked for again.
    """
    surface = account.surface
    is_undecided = not surface.known_dialect and len(surface.traits.dialects) > 1
    if account.remote_id and not account.identity_note and not is_undecided:
        return
    identity = reader.who_am_i()
    facts: dict[str, Any] = {
        "handle": identity.handle[:120],
        "remote_id": identity.remote_id[:200],
        "identity_note": as_reason(identity.note),
    }
    try:
        with transaction.atomic():
            Account.objects.filter(pk=account.pk).update(**facts)
    except IntegrityError as error:  # one name there is one account here
        raise AuthFailed(reason("account.connected_twice", handle=identity.handle)) from error
    if is_undecided:
        Surface.objects.filter(pk=surface.pk, dialect="").update(dialect=identity.dialect)
        surface.dialect = identity.dialect
    for name, value in facts.items():
        setattr(account, name, value)
    reader.access = replace(reader.access, handle=account.handle, remote_id=account.remote_id)


def read_thread(
    account: Account,
    reader: Reader,
    post_id: str,
    report: WatchReport,
    *,
    clock: Clock,
    count: int | None = None,
    known: int | None = None,
) -> None:
    """Read one thread whole and store it. `count`: what the service just said it holds.
    `known`: what it said before; where it still does, nothing is read.
    """
    thread = reader.thread(post_id, count=count, known=known)
    if thread.is_unchanged:
        note_checked(account, [post_id], now=clock())
        return
    report.threads += 1
    report.skipped += thread.skipped
    items = [*([thread.root] if thread.root else []), *thread.comments]
    report.seen += len(items)
    _store(account, items, report, now=clock())
    report.stored.deleted += note_thread(account, post_id, thread, now=clock(), count=count)


def _store(account: Account, items: Sequence[Item], report: WatchReport, *, now: datetime) -> None:
    items, unclear = claim_own(account, items)
    report.skipped += unclear
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
    started_at: datetime,
    requests: int,
    *,
    now: datetime,
) -> WatchRound:
    done = report.stored
    facts = {} if report.cursor is None else {"cursor": report.cursor}
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
