"""Run an activation: its items one after the other, each with its own result.

    take up (decided anew, attempt counted) ──> write ──┬─> draft
       │                                                ├─> suspended: a tool call waits
       └─ not answered now: with the reason             ├─> nothing to say
                                                        └─> failed, or left for later

One that fails stops no other. A limit of the activation, a tool that failed for good, an empty
budget, the end of the process and an operator's stop end the activation; what was not begun is
due again.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, transaction

from dialogue import errors
from dialogue.activations import items, priorities
from dialogue.activations import services as activation_services
from dialogue.activations.models import (
    UNFINISHED,
    Activation,
    ActivationItem,
    ActivationState,
    ItemState,
    Purpose,
)
from dialogue.activations.requests import ask_again, rest, stopped
from dialogue.activations.stop_signal import StopSignal, stop_asked_by
from dialogue.activations.suspended import LOOK_AGAIN
from dialogue.approvals.models import ToolCall
from dialogue.replies.answer import NotificationWork
from dialogue.replies.explore import ExplorationWork
from dialogue.replies.item_work import Clock, ItemWork
from dialogue.replies.post import TaskWork
from dialogue.replies.verdicts import ReplyCounts
from surfaces.errors import BadInput, RuleBroken, SurfaceError
from surfaces.text.reasons import StoredReason, as_reason, reason

logger = logging.getLogger(__name__)
A_MOMENT = timedelta(seconds=2)
# How each purpose is worked on.
WORKS: dict[str, type[ItemWork]] = {
    Purpose.REPLY: NotificationWork,
    Purpose.TASK: TaskWork,
    Purpose.EXPLORE: ExplorationWork,
}


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """Why an activation ends before it worked through all of its items."""

    state: ActivationState
    why: StoredReason
    is_failure: bool | None = None  # None: as the state says


def run(
    activation: Activation,
    counts: ReplyCounts,
    *,
    clock: Clock,
    until: Callable[[], bool],
    is_ending: Callable[[], bool],
) -> None:
    """Work through the items that are not finished. Every error is recorded."""
    stop = StopSignal(activation, is_ending)
    try:
        early = _walk(activation, counts, stop, clock=clock, until=until)
        _close(activation, early, counts, now=clock())
    except errors.LeaseLost:
        logger.warning("an activation was taken back", extra={"activation_id": activation.pk})


def _walk(
    activation: Activation,
    counts: ReplyCounts,
    stop: StopSignal,
    *,
    clock: Clock,
    until: Callable[[], bool],
) -> EarlyEnd | None:
    rows = activation.items.filter(state__in=UNFINISHED).order_by("position")
    for item in rows.select_related("notification"):
        work = WORKS[activation.purpose](activation, item, counts, clock)
        if item.state != ItemState.WORKING:  # the first was taken up with the claim
            if stop.look() or until():
                return EarlyEnd(ActivationState.RELEASED, as_reason("activation.left_for_later"))
            if not work.take_up():
                continue
        if early := _write(work, stop):
            return early
    return None


def _write(work: ItemWork, stop: StopSignal) -> EarlyEnd | None:
    """Let the voice work on one item and store what came of it."""
    activation = work.activation
    try:
        work.write(stop)
    except (errors.LeaseLost, DatabaseError):
        raise  # nothing can be stored now; the lease will expire
    except errors.VoiceStopping as error:
        return EarlyEnd(ActivationState.RELEASED, error.reason)
    except errors.OutOfBudget as error:
        work.wait_for_money(error, was_asked=_was_asked(work))
        return EarlyEnd(ActivationState.EXHAUSTED, error.reason)
    except errors.LimitReached as error:
        return _at_limit(work, error.reason, was_asked=_was_asked(work))
    except errors.ToolBroken as error:
        work.fail(error.reason)
        return EarlyEnd(ActivationState.FAILED, error.reason)
    except (errors.VoiceError, BadInput, SurfaceError) as error:
        work.fail(error.reason, wait=getattr(error, "wait", None))
    except RuleBroken as error:
        work.leave(error.reason, wait=A_MOMENT)
    except Exception as error:
        logger.exception("an activation failed in us", extra={"activation_id": activation.pk})
        work.fail(reason("activation.program_failed", name=type(error).__name__))
    return None


def _at_limit(work: ItemWork, why: StoredReason, *, was_asked: bool) -> EarlyEnd:
    """A limit that others used up before this item asked anything is no failure of it."""
    did = [ItemState.DRAFTED, ItemState.NOTHING, ItemState.FAILED]
    if not was_asked and work.activation.items.filter(state__in=did).exists():
        work.leave(why, is_untried=True)
        return EarlyEnd(ActivationState.EXHAUSTED, why)
    work.fail(why)
    return EarlyEnd(ActivationState.EXHAUSTED, why, is_failure=True)


def _was_asked(work: ItemWork) -> bool:
    """Whether the voice was asked about this item, in this claim or before it waited."""
    return work.activation.steps.filter(kind="asked", item=work.item).exists()


@transaction.atomic
def _close(
    activation: Activation, early: EarlyEnd | None, counts: ReplyCounts, *, now: datetime
) -> None:
    """End the activation, or suspend it where an item waits for approval."""
    priorities.hold([activation.agent_id])
    activation_services.renew(activation, now=now)  # from here an operator's stop waits for us
    if by := stop_asked_by(activation.pk):
        left = activation_services.finish(
            activation, ActivationState.RELEASED, stopped(by), now=now
        )
        rest(left, by=by, now=now)
        counts.given_back += sum(item.started_at is not None for item in left)
        return
    waiting = activation.items.filter(state=ItemState.WAITING).first()
    if waiting:
        why = early.why if early else waiting.why
        others = activation.items.exclude(state=ItemState.WAITING)
        left = items.release(others, why, now=now)
        activation_services.suspend(
            activation, why, now=now,
            is_failure=bool(early and (early.is_failure or early.state == ActivationState.FAILED)),
            look_at=_look_at(activation, now=now),
        )  # fmt: skip
        counts.suspended += 1
    elif early:
        left = activation_services.finish(
            activation, early.state, early.why, is_failure=early.is_failure, now=now
        )
    else:
        state, why = items.outcome(activation)
        left = activation_services.finish(activation, state, why, now=now)
    _give_back(activation, left, counts, now=now)


def _look_at(activation: Activation, *, now: datetime) -> datetime | None:
    """What went on and may not yet is not taken up again at once; a new question is, if decided."""
    asks = ToolCall.objects.waiting().filter(
        activation=activation, item__state=ItemState.WAITING
    )  # fmt: skip
    return now + LOOK_AGAIN if activation.resumed_at and not asks.exists() else None


def _give_back(
    activation: Activation, left: list[ActivationItem], counts: ReplyCounts, *, now: datetime
) -> None:
    """What was left is considered again; what was not begun is due already."""
    for item in left:
        if item.started_at is None:
            continue
        counts.given_back += 1
        if item.notification:
            item.notification.note(look_at=now, why=item.why)
        else:
            ask_again(activation, now=now)
