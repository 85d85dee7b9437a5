"""Wake an agent, keep its transcript as it happens, let it sleep again.

begin (lease, fencing number) ──> steps … ──> end
    └── the worker died ──> take_back ──> abandoned; its notification is due again
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from dialogue import spending
from dialogue.errors import Overtaken
from dialogue.models import Activation, Agent, Notification, Presence, Step
from dialogue.models.activation import Purpose, State
from dialogue.models.agent import Lives
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import Account, Draft, Message
from surfaces.models.message import ReplyStatus
from surfaces.sender import is_alive

LEASE = timedelta(seconds=300)  # longer than any single request; renewed with every step
PATIENT_UNTIL = 5  # failures in a row before an agent backs off
FIRST_BACK_OFF = timedelta(seconds=60)
LONGEST_BACK_OFF = timedelta(seconds=3600)
WORDS_KEPT = 8_000  # characters of a step
GOOD = {State.DONE}
NEUTRAL = {State.RELEASED, State.EXHAUSTED}  # nobody's failure


def begin(
    presence: Presence,
    *,
    purpose: str,
    why: str,
    worker: str,
    now: datetime,
    notification: Notification | None = None,
) -> Activation:
    """Wake the agent, or raise `StaleState`: it is awake already. Commit before you go on."""
    try:
        with transaction.atomic():
            return Activation.objects.create(
                agent=presence.agent,
                presence=presence,
                purpose=purpose,
                notification=notification,
                why=why,
                number=presence.agent.next_claim(),
                worker=worker,
                lease_until=now + LEASE,
                started_at=now,
            )
    except IntegrityError as error:
        if "activation_one_live_per_agent" not in str(error):
            raise
        raise StaleState(f"{presence.agent} is awake already.") from error


def renew(activation: Activation, *, now: datetime) -> None:
    """Say that we live, or raise `Overtaken`."""
    activation.note(lease_until=now + LEASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    tokens_in: int = 0
    tokens_out: int = 0
    money: Decimal = Decimal(0)
    is_guess: bool = False


@transaction.atomic
def step(
    activation: Activation,
    kind: str,
    words: str = "",
    *,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
    cost: Cost = Cost(),
    took_ms: int = 0,
) -> Step:
    """Add one line to the transcript and its cost to the whole, or raise `Overtaken`."""
    ours = activation.mine().select_for_update().first()
    if ours is None:
        raise Overtaken(f"activation {activation.pk} was taken back")
    last = ours.steps.order_by("-number").values_list("number", flat=True).first()
    activation.mine().update(
        lease_until=now + LEASE,
        tokens_in=F("tokens_in") + cost.tokens_in,
        tokens_out=F("tokens_out") + cost.tokens_out,
        cost=F("cost") + cost.money,
        cost_is_guess=ours.cost_is_guess or cost.is_guess,
    )
    return Step.objects.create(
        activation=activation,
        number=(last or 0) + 1,
        at=now,
        kind=kind,
        words=words.replace("\0", "")[:WORDS_KEPT],
        facts=dict(facts or {}),
        tokens_in=cost.tokens_in,
        tokens_out=cost.tokens_out,
        cost=cost.money,
        cost_is_guess=cost.is_guess,
        took_ms=took_ms,
    )


def account_to_speak_from(activation: Activation) -> Account:
    """The account as it is now, held for this transaction; or `Overtaken`.

    The mode may have changed while the voice was writing.
    """
    if not activation.mine().select_for_update().exists():
        raise Overtaken(f"activation {activation.pk} was taken back")
    rows = Account.objects.select_related("surface")
    held = rows.select_for_update(of=("self",), no_key=True)
    return held.get(pk=activation.presence.account_id)


def check_still(activation: Activation, *others: tuple[bool, str]) -> None:
    """Writing takes minutes: `NotAllowed` if a person stopped it meanwhile, or one of `others`.

    What nobody allows any more must not go by the mode.
    """
    is_stone = activation.purpose == Purpose.STONE
    does, words = ("write", "post") if is_stone else ("answer", "answer")
    presence = Presence.objects.select_related("agent__settings").get(pk=activation.presence_id)
    agent = presence.agent
    for applies, why in (
        (presence.ended_at is not None, "The agent's presence ended."),
        (agent.lives != Lives.HERE, "The agent was moved elsewhere."),
        (not agent.settings.is_autonomous, f"The agent was told not to {does} by itself."),
        (is_stone and not agent.settings.lays_stones, "The agent was told to lay no stones."),
        *others,
    ):
        if applies:
            raise NotAllowed(f"{why} It happened while the {words} was being written.")


@transaction.atomic
def end(
    activation: Activation,
    state: State,
    outcome: str,
    *,
    now: datetime,
    draft: Draft | None = None,
) -> None:
    """Let the agent sleep, or raise `Overtaken`: then nothing of this may be kept."""
    activation.note(state=state, outcome=outcome[:2000], ended_at=now, draft=draft)
    spending.settle_left(activation, now=now)
    _count(activation.agent_id, state, now=now)


def _count(agent_id: int, state: State, *, now: datetime) -> None:
    """From the fifth failure in a row the agent rests, longer each time; success forgets."""
    rows = Agent.objects.filter(pk=agent_id)
    if state in GOOD:
        rows.exclude(failures=0).update(failures=0, backs_off_until=None)
    elif state not in NEUTRAL:
        rows.update(failures=F("failures") + 1)
        failures = rows.values_list("failures", flat=True).get()
        if wait := back_off(failures):
            rows.update(backs_off_until=now + wait)


def back_off(failures: int) -> timedelta | None:
    """60 s · 2^(n−5) from the fifth failure in a row, at most an hour (activations, 1)."""
    if failures < PATIENT_UNTIL:
        return None
    return min(FIRST_BACK_OFF * (1 << min(failures - PATIENT_UNTIL, 10)), LONGEST_BACK_OFF)


def take_back(*, now: datetime) -> int:
    """End what dead workers left running; what they were woken for is due again."""
    taken = 0
    for activation in Activation.objects.running().select_related("agent"):
        if activation.lease_until <= now or not is_alive(activation.worker):
            taken += _abandon(activation, now=now)
    return taken


@transaction.atomic
def _abandon(activation: Activation, *, now: datetime) -> int:
    outcome = "Its worker died. What it was woken for is taken up again."
    ended = activation.mine().update(state=State.ABANDONED, outcome=outcome, ended_at=now)
    if not ended:
        return 0
    spending.settle_left(activation, now=now)
    _count(activation.agent_id, State.ABANDONED, now=now)
    again = Notification.objects.filter(activations=activation, read_at=None, draft=None)
    again.update(look_at=now)
    # The try was counted when the voice was asked; the comment itself is open as before.
    Message.objects.filter(notifications__in=again, reply_status=ReplyStatus.PENDING).update(
        reply_why="The last try ended with its worker."
    )
    return 1
