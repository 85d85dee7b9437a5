"""Start an activation, record its steps, finish, suspend or reclaim it.

start | claim, take_up ──> record_step … ──> finish
    │                          └──> suspend ──> resume (`suspended`)
    └── worker died ──> reclaim_abandoned ──> abandoned; its notifications are due again
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from dialogue.activations import choosing, items, priorities
from dialogue.activations.models import ActivationState, ItemState, Purpose
from dialogue.activations.requests import ask_again, rest
from dialogue.activations.requests import ask_stop as ask_stop
from dialogue.activations.requests import run_now as run_now
from dialogue.activations.stop_signal import stop_asked_by
from dialogue.agents.models.agent import AgentLocation
from dialogue.budgets import services as budget_services
from dialogue.errors import LeaseLost
from dialogue.models import (
    Activation,
    ActivationItem,
    Agent,
    Notification,
    Presence,
    TranscriptStep,
)
from surfaces.errors import NotAllowed, StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import ReplyStatus
from surfaces.models import Account, Draft, Message
from surfaces.text.reasons import StoredReason, as_reason, reason
from surfaces.workers.locks import is_alive

LEASE = timedelta(seconds=300)  # longer than any single request; renewed with every step
PATIENT_UNTIL = 5  # failures in a row before an agent backs off
FIRST_BACK_OFF = timedelta(seconds=60)
LONGEST_BACK_OFF = timedelta(seconds=3600)
WORDS_KEPT = 8_000  # characters of a step
NEUTRAL = {ActivationState.RELEASED, ActivationState.EXHAUSTED}  # neither success nor failure
# What is under way when an activation ends so. Else it is left for later.
CAME = {ActivationState.DONE: ItemState.DRAFTED, ActivationState.FAILED: ItemState.FAILED}


def start(
    presence: Presence,
    *,
    purpose: str,
    why: StoredReason | str,
    worker: str,
    now: datetime,
    notification: Notification | None = None,
    task: str = "",
) -> Activation:
    """Create an activation, or raise `StaleState` if one is running. Commit afterwards.

    Its item is under way: `notification`, or what its purpose says.
    """
    try:
        with transaction.atomic():
            number = presence.agent.next_claim(now=now)
            activation = Activation.objects.create(
                agent=presence.agent, presence=presence, purpose=purpose, notification=notification,
                why=why, number=number, worker=worker, lease_until=now + LEASE, started_at=now,
                task=task,
            )  # fmt: skip
    except IntegrityError as error:
        if "activation_one_live_per_agent" not in str(error):
            raise
        raise StaleState(reason("activation.running", agent=presence.agent)) from error
    _add_items(activation, [notification], now=now)
    return activation


def claim(*, workers: Sequence[str], now: datetime) -> list[Activation]:
    """Lease the most urgent agents that have something due and may work, one for each worker.

    (activations, 1.) Fewer, if fewer have work. An activation has no item yet: what is due is
    decided after the claim has committed.
    """
    with transaction.atomic(durable=True):
        return choosing.claim(
            workers=workers, why=reason("activation.decides"), lease_until=now + LEASE, now=now
        )


def take_up(
    activation: Activation, rows: Sequence[Notification], why: StoredReason, *, now: datetime
) -> None:
    """Give a claimed activation its items; the first is under way. Raise `LeaseLost`."""
    activation.note(notification=rows[0], why=why)
    Agent.objects.filter(pk=activation.agent_id).update(last_activated_at=now)
    _add_items(activation, rows, now=now)


def drop(activation: Activation) -> None:
    """Remove a claimed activation that found nothing to do, or raise `LeaseLost`."""
    if not activation.mine().delete()[0]:
        raise LeaseLost(f"activation {activation.pk} was taken back")


def _add_items(
    activation: Activation, rows: Sequence[Notification | None], *, now: datetime
) -> None:
    items = [
        ActivationItem(activation=activation, position=position, notification=row)
        for position, row in enumerate(rows, 1)
    ]
    items[0].state, items[0].started_at = ItemState.WORKING, now
    ActivationItem.objects.bulk_create(items)


def renew(activation: Activation, *, now: datetime) -> None:
    activation.note(lease_until=now + LEASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivationCost:
    tokens_in: int = 0
    tokens_out: int = 0
    money: Decimal = Decimal(0)
    is_guess: bool = False


@transaction.atomic
def record_step(
    activation: Activation,
    kind: str,
    words: str = "",
    *,
    why: StoredReason | str = "",
    now: datetime,
    facts: Mapping[str, Any] | None = None,
    item: ActivationItem | None = None,
    cost: ActivationCost = ActivationCost(),
    took_ms: int = 0,
) -> TranscriptStep:
    """Add a step and its cost to the activation, or raise `LeaseLost`."""
    ours = activation.mine().select_for_update().first()
    if ours is None:
        raise LeaseLost(f"activation {activation.pk} was taken back")
    last = ours.steps.order_by("-number").values_list("number", flat=True).first()
    activation.mine().update(
        lease_until=now + LEASE,
        tokens_in=F("tokens_in") + cost.tokens_in,
        tokens_out=F("tokens_out") + cost.tokens_out,
        cost=F("cost") + cost.money,
        cost_is_guess=ours.cost_is_guess or cost.is_guess,
    )
    return TranscriptStep.objects.create(
        activation=activation, item=item, number=(last or 0) + 1, at=now, kind=kind, why=why,
        words=words.replace("\0", "")[:WORDS_KEPT], facts=dict(facts or {}),
        tokens_in=cost.tokens_in, tokens_out=cost.tokens_out, cost=cost.money,
        cost_is_guess=cost.is_guess, took_ms=took_ms,
    )  # fmt: skip


def account_to_speak_from(activation: Activation) -> Account:
    """Lock and return the account as it is now, or raise `LeaseLost`.

    The mode may have changed while the voice was writing.
    """
    priorities.hold([activation.agent_id])
    if not activation.mine().select_for_update().exists():
        raise LeaseLost(f"activation {activation.pk} was taken back")
    held = Account.objects.select_related("surface").select_for_update(of=("self",), no_key=True)
    return held.get(pk=activation.presence.account_id)


def check_still_allowed(activation: Activation, *others: tuple[bool, StoredReason | str]) -> None:
    """Raise `NotAllowed` if settings changed meanwhile, or one of `others` applies.

    Writing takes minutes, and a draft must not follow settings that no longer hold.
    """
    is_stone = activation.purpose == Purpose.STONE
    is_post = is_stone or activation.purpose == Purpose.TASK
    off = "activation.no_posts" if is_post else "activation.no_answers"
    meanwhile = "activation.meanwhile_post" if is_post else "activation.meanwhile_answer"
    presence = Presence.objects.select_related("agent__settings").get(pk=activation.presence_id)
    agent = presence.agent
    for applies, why in (
        (presence.ended_at is not None, "activation.presence_ended"),
        (agent.lives != AgentLocation.HERE, "activation.moved"),
        (not agent.settings.is_autonomous, off),
        (is_stone and not agent.settings.lays_stones, "activation.no_stones"),
        *others,
    ):
        if applies:
            raise NotAllowed(reason(meanwhile, why=as_reason(why)))


@transaction.atomic
def finish(
    activation: Activation,
    state: ActivationState,
    outcome: StoredReason | str,
    *,
    now: datetime,
    draft: Draft | None = None,
    is_failure: bool | None = None,
) -> list[ActivationItem]:
    """End the activation, or raise `LeaseLost`: then roll back everything it wrote.

    What is under way ends as the activation does; other unfinished items are released and
    returned. `is_failure`: whether it counts as one of its agent; by default as the state says.
    """
    priorities.hold([activation.agent_id])
    if came := CAME.get(state):
        for item in activation.items.filter(state=ItemState.WORKING):
            items.end(
                activation, item, came, outcome, now=now, draft_id=draft.pk if draft else None
            )
    activation.note(state=state, outcome=as_reason(outcome), ended_at=now)
    left = items.release(activation.items.all(), outcome, now=now)
    budget_services.settle_abandoned(activation, now=now)
    _count(activation.agent_id, state, is_failure=is_failure, now=now)
    return left


@transaction.atomic
def suspend(
    activation: Activation,
    outcome: StoredReason | str,
    *,
    is_failure: bool = False,
    look_at: datetime | None = None,
    now: datetime,
) -> None:
    """Free lease and agent until the calls of its waiting items are decided, or `look_at`."""
    priorities.hold([activation.agent_id])
    began = activation.resumed_at or activation.started_at
    worked = activation.worked_ms + max(round((now - began).total_seconds() * 1000), 0)
    activation.note(
        state=ActivationState.WAITING, worked_ms=worked, outcome=as_reason(outcome), look_at=look_at
    )
    budget_services.settle_abandoned(activation, now=now)
    if is_failure:
        _count(activation.agent_id, ActivationState.FAILED, now=now)


def _count(
    agent_id: int, state: ActivationState, *, is_failure: bool | None = None, now: datetime
) -> None:
    """Count failures in a row and set the back-off; a success resets both. The agent is held."""
    rows = Agent.objects.filter(pk=agent_id)
    fails = state not in NEUTRAL if is_failure is None else is_failure
    if state == ActivationState.DONE:
        rows.exclude(failures=0).update(failures=0, backs_off_until=None)
    elif fails:
        rows.update(failures=F("failures") + 1)
        failures = rows.values_list("failures", flat=True).get()
        if wait := backoff_delay(failures):
            rows.update(backs_off_until=now + wait)


def backoff_delay(failures: int) -> timedelta | None:
    """60 s · 2^(n−5) from the fifth failure in a row, at most an hour (activations, 1)."""
    if failures < PATIENT_UNTIL:
        return None
    return min(FIRST_BACK_OFF * (1 << min(failures - PATIENT_UNTIL, 10)), LONGEST_BACK_OFF)


def reclaim_abandoned(*, now: datetime) -> int:
    """Abandon activations of dead workers and make their notifications due again."""
    taken = 0
    for activation in Activation.objects.running().select_related("agent"):
        if activation.lease_until <= now or not is_alive(activation.worker):
            taken += _abandon(activation, now=now)
    return taken


@transaction.atomic
def _abandon(activation: Activation, *, now: datetime) -> int:
    outcome = "activation.worker_died"
    priorities.hold([activation.agent_id])
    ended = activation.mine().update(state=ActivationState.ABANDONED, outcome=outcome, ended_at=now)
    if not ended:
        return 0
    budget_services.settle_abandoned(activation, now=now)
    _count(activation.agent_id, ActivationState.ABANDONED, now=now)
    left = items.release(activation.items.all(), outcome, now=now)
    if by := stop_asked_by(activation.pk):
        rest(left, by=by, now=now)
        return 1
    again = Notification.objects.filter(items__in=left, read_at=None, draft=None)
    tried = [item.notification_id for item in left if item.started_at]
    # The attempt was counted when the voice was called; the comment stays open.
    comments = Message.objects.filter(notifications__in=tried, reply_status=ReplyStatus.PENDING)
    reply_state.note_reason(comments, "activation.try_lost")
    priorities.move(Notification.objects.filter(pk__in=again.values("pk")), look_at=now)
    ask_again(activation, now=now)
    return 1
