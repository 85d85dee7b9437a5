"""Send approved drafts, each at most once.

    claim ──commit──> begin ──commit──> POST ──> record
      │                 │                 └─ no answer ─> unknown ─> sent | retry | operator
      │                 └─ paused, shadow, expired: not sent
      └─ claims of a dead sender expire: not begun → approved, begun → unknown

A delivery that may have happened is never repeated before a search. A sender holds a lock in
the database while it lives, so nobody searches for text that a slow sender may still post.
No other module may import the writers.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, Value
from django.db.models.functions import Greatest

from surfaces.accounts.clients import Clock, access_to, open_half
from surfaces.accounts.models.account import Account, ReplyMode
from surfaces.accounts.services import stop_account
from surfaces.adapters.base import Writer
from surfaces.adapters.types import ItemKind, SentItem
from surfaces.adapters.writers import WRITERS
from surfaces.delivery import challenges, reconcile
from surfaces.delivery.outcomes import record_not_sent, record_unknown
from surfaces.delivery.preflight import lease, start_sending
from surfaces.delivery.reconcile import Transport, first_look, give_back, may_repeat
from surfaces.delivery.record import record_sent
from surfaces.drafts.models import Draft, DraftKind, DraftState
from surfaces.errors import Refused, RuleBroken, StaleState, SurfaceError, Unconfirmed
from surfaces.pauses.models import Pause
from surfaces.text.reasons import reason
from surfaces.workers.locks import WorkerLock

logger = logging.getLogger(__name__)

BATCH = 50  # drafts of one account per claim
SLOW = timedelta(seconds=5)  # a request that takes longer must not be followed by the next at once
UNREAD = [  # large, and nothing that is sent depends on them
    f"{row}__{name}" for row in ("target", "target__post") for name in ("raw_json", "search")
]


@dataclass(slots=True)
class DeliveryReport:
    sent: int = 0
    shadowed: int = 0
    later: int = 0
    unknown: int = 0
    failed: int = 0
    lapsed: int = 0
    looked: int = 0

    @property
    def did(self) -> int:
        return sum(asdict(self).values())

    def count(self, state: str) -> None:
        name = {"approved": "later", "waiting": "lapsed"}.get(state, str(state))
        if name in asdict(self):
            setattr(self, name, getattr(self, name) + 1)


def deliver_due(
    sender: WorkerLock,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: Transport = None,
) -> DeliveryReport:
    """Send until nothing is due or `until` is true. Safe in several processes."""
    carried = DeliveryReport()
    sender.hold()
    reconcile.release_abandoned(sender, now=clock())
    while not until():
        # In turns: a service that hangs must not delay ready drafts.
        doubtful = reconcile.claim_look(sender, now=clock())
        if doubtful:
            carried.looked += 1
            _settle(doubtful, clock=clock, transport=transport)
        batch = claim(sender, now=clock())
        if batch:
            deliver(batch, carried, clock=clock, until=until, transport=transport)
        if not (doubtful or batch):
            break
    return carried


@transaction.atomic(durable=True)
def claim(sender: WorkerLock, *, now: datetime) -> list[Draft]:
    """Claim the longest-waiting draft that may be sent, and others of its account."""
    writing = Account.objects.able_to_write(now).exclude(mode=ReplyMode.OFF)
    due = Draft.objects.due(now).filter(account__in=writing).order_by("not_before", "id")
    free = due.exclude(Exists(Pause.objects.over_rows(agent="agent")))
    may_leave = free.select_for_update(of=("self",), skip_locked=True)
    first = may_leave.only("account_id").first()
    if first is None:
        return []
    account = Account.objects.select_related("surface").get(pk=first.account_id)
    of_account = may_leave.filter(account=account).select_related("target__post")
    batch = list(of_account.defer(*UNREAD)[:BATCH])
    taken = {"claimed_by": sender.name, "lease_until": now + lease(), "asked_at": None}
    Draft.objects.filter(pk__in=[draft.pk for draft in batch]).update(
        state=DraftState.SENDING, claim_number=F("claim_number") + 1, **taken
    )
    for draft in batch:
        draft.account = account
        draft.state, draft.claim_number = DraftState.SENDING, draft.claim_number + 1
        draft.claimed_by, draft.asked_at = sender.name, None
    return batch


def deliver(
    batch: list[Draft],
    carried: DeliveryReport,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    transport: Transport = None,
) -> None:
    """Send claimed drafts of one account in order, over one connection."""
    try:
        writer = _open_writer(batch[0].account, clock=clock, transport=transport)
    except SurfaceError as error:
        stop_account(batch[0].account, error, now=clock())
        _give_back(batch)
        return
    with closing(writer):
        for position, draft in enumerate(batch):
            if until():
                return _give_back(batch[position:])
            begun = clock()
            go_on = send_draft(draft, writer, carried, clock=clock)
            if (took := clock() - begun) > SLOW:
                go_on = False
                _rest(draft.account, took, now=clock())
            if not go_on:
                return _give_back(batch[position + 1 :])


def _rest(account: Account, as_long: timedelta, *, now: datetime) -> None:
    """Let drafts of other accounts leave for as long as this one kept the sender."""
    until = Greatest("quiet_until", Value(now + as_long))
    Account.objects.filter(pk=account.pk).update(quiet_until=until)


def _open_writer(account: Account, *, clock: Clock, transport: Transport = None) -> Writer:
    access = access_to(account, sends=True, clock=clock, transport=transport)
    return open_half(WRITERS[account.surface.kind], access)


def _give_back(batch: list[Draft]) -> None:
    for draft in batch:
        try:
            give_back(draft)
        except StaleState:
            logger.info("a claimed draft was taken over", extra={"draft_id": draft.pk})


def send_draft(draft: Draft, writer: Writer, carried: DeliveryReport, *, clock: Clock) -> bool:
    """Send one draft; return False when the rest of its batch should wait."""
    try:
        go_on = _say(draft, writer, clock=clock) if _may_send(draft, writer, clock) else True
    except StaleState:
        # Another sender took it over meanwhile; its result counts.
        logger.warning("a draft was taken over", extra={"draft_id": draft.pk})
        return False
    carried.count(draft.state)
    return go_on


def _may_send(draft: Draft, writer: Writer, clock: Clock) -> bool:
    may_leave = False
    with _errors_mean_unknown(draft, clock):
        may_leave = may_repeat(draft, clock=clock, transport=writer.access.transport)
    return may_leave and start_sending(draft, now=clock())


def _say(draft: Draft, writer: Writer, *, clock: Clock) -> bool:
    go_on = True
    with _errors_mean_unknown(draft, clock):
        go_on = _make_request(draft, writer, clock=clock)
    return go_on


@contextmanager
def _errors_mean_unknown(draft: Draft, clock: Clock) -> Iterator[None]:
    """An error of ours around the request makes the outcome unknown."""
    try:
        yield
    except (RuleBroken, OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("a sending failed in us", extra={"draft_id": draft.pk})
        draft.refresh_from_db(fields=["state"])
        why = reason("sending.program_failed", name=type(error).__name__)
        record_unknown(draft, why, now=clock(), look_at=clock() + first_look())


def _make_request(draft: Draft, writer: Writer, *, clock: Clock) -> bool:
    try:
        sent = _ask(draft, writer)
        if sent.challenge:
            challenges.store_challenge(draft, sent, sent.challenge)
            return challenges.answer_challenge(draft, writer, clock=clock)
        record_sent(
            draft, remote_id=sent.remote_id, content=sent.content, created_at=sent.created_at,
            url=sent.url, raw=sent.raw, now=clock(),
        )  # fmt: skip
    except Unconfirmed as error:
        record_unknown(draft, error.reason, now=clock(), look_at=clock() + first_look())
    except SurfaceError as error:
        return record_not_sent(draft, error, now=clock())
    return True


def _ask(draft: Draft, writer: Writer) -> SentItem:
    key, text, target = str(draft.key), draft.text, draft.target
    if draft.what == DraftKind.POST:
        return writer.create_post(title=draft.title, text=text, community=draft.community, key=key)
    if target is None:
        raise Refused("sending.no_target")
    if draft.what == DraftKind.COMMENT:
        return writer.reply(post_id=target.remote_id, parent_id=None, text=text, key=key)
    post_id, parent_id = target.post.remote_id, target.remote_id
    return writer.reply(post_id=post_id, parent_id=parent_id, text=text, key=key)


def _settle(draft: Draft, *, clock: Clock, transport: Transport) -> None:
    try:
        if draft.challenge:
            with closing(_open_writer(draft.account, clock=clock, transport=transport)) as writer:
                challenges.answer_challenge(draft, writer, clock=clock)
        else:
            reconcile.look_for(draft, clock=clock, transport=transport)
    except StaleState:
        logger.info("a doubt was settled elsewhere", extra={"draft_id": draft.pk})
    except SurfaceError as error:
        stop_account(draft.account, error, now=clock())
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("looking failed in us", extra={"draft_id": draft.pk})


def _kind(draft: Draft) -> ItemKind:
    return ItemKind.POST if draft.what == DraftKind.POST else ItemKind.COMMENT
