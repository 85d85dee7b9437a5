"""Claim agents with something due, decide on it, and answer what is to be answered.

    agents that may work, most urgent first (`activations.choosing`)
    claim ──commit──> due notification ──decide──┬─> pass: read, with the reason
                                                 ├─> hold, wait: with the reason, and until when
                                                 └─> reply: attempt counted ──> `runner.run`

An activation takes other due notifications of the presence along; each is decided at its turn.
Where nothing is to be answered it is removed. Then the notifications of agents that may not work
are decided. A decision is stored with the notification and the message, so that pages can show why
something is not answered. The clock is an argument.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from dialogue.activations import choosing, priorities
from dialogue.activations import services as activation_services
from dialogue.errors import LeaseLost
from dialogue.inbox.models import NotificationQuerySet
from dialogue.models import Activation, Notification, Presence
from dialogue.replies import runner
from dialogue.replies.claims import FreeWorkers
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict, decide
from dialogue.replies.situation import SituationBatch, limits_of
from dialogue.replies.verdicts import ReplyCounts, keep, settled, with_facts
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, SpamStatus
from surfaces.models import Message
from surfaces.text.format import one_line
from surfaces.text.reasons import reason

logger = logging.getLogger(__name__)
Clock = Callable[[], datetime]

BATCH = 25  # notifications decided at once, and agents
KINDS = {"reply", "mention", "comment"}  # notifications with a sentence of their own
# Waits without a time: checked again when circumstances change.
HELD = [Reason.PAUSED, Reason.SWITCHED_OFF, Reason.MODE_OFF, Reason.ACCOUNT_OFF, Reason.ELSEWHERE]


def answer_due(
    worker: str,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    is_ending: Callable[[], bool] | None = None,
) -> ReplyCounts:
    """Decide and reply until nothing is due. Safe in many workers at once.

    After `until` no reply is begun; what is being written stops when `is_ending`.
    """
    counts, free = ReplyCounts(), FreeWorkers()
    while not until() and answer_next(
        worker, counts, free=free, clock=clock, until=until, is_ending=is_ending or until
    ):
        pass
    return counts


def answer_next(
    worker: str,
    counts: ReplyCounts,
    *,
    free: FreeWorkers,
    clock: Clock,
    until: Callable[[], bool],
    is_ending: Callable[[], bool],
) -> bool:
    """One activation, or one batch of decisions; False if nothing was due."""
    activation = free.claim(worker, clock=clock)
    if activation is None:
        return decide_for_others(counts, now=clock())
    if begin(activation, counts, now=clock()):
        runner.run(activation, counts, clock=clock, until=until, is_ending=is_ending)
    return True


def release_held(*, now: datetime) -> int:
    """Make notifications due again whose switch, pause or review is over."""
    codes = [why.code for why in HELD]
    waiting = Notification.objects.unread().filter(look_at=None, draft=None)
    presences = Presence.objects.filter(
        pk__in=waiting.filter(verdict__in=codes).values("presence").distinct()
    ).select_related("agent__settings", "account__surface")
    world = SituationBatch.of([], now=now)
    world.read_pauses([row.pk for row in presences])
    able = [row.pk for row in presences if row.ended_at or world.may_speak(row)]
    freed = waiting.filter(presence__in=able, verdict__in=codes)
    suspect = waiting.filter(verdict=Reason.SUSPECT.code)
    judged = suspect.exclude(message__spam_status__in=[SpamStatus.SUSPECT])
    cleared = Notification.objects.filter(pk__in=judged.values("pk"))
    return priorities.move(freed, look_at=now) + priorities.move(cleared, look_at=now)


def begin(activation: Activation, counts: ReplyCounts, *, now: datetime) -> bool:
    """Decide until one notification is to be answered; take it up, with others after it.

    False: none is, and the activation is gone. Commits before any request.
    """
    try:
        return _begin(activation, counts, now=now)
    except LeaseLost:
        logger.warning("an activation was taken back", extra={"activation_id": activation.pk})
        return False


@transaction.atomic(durable=True)
def _begin(activation: Activation, counts: ReplyCounts, *, now: datetime) -> bool:
    # Limits are counted before a reply is written; who holds the lease decides alone.
    priorities.hold([activation.agent_id])
    activation_services.renew(activation, now=now)
    rows = _due(Notification.objects.filter(presence=activation.presence_id), now)
    world = SituationBatch.of(rows, now=now)
    for looked, row in enumerate(rows, 1):
        turn = replace(world.turn(row), is_awake=False)
        verdict = decide(turn, limits_of(row.agent), now=now)
        if verdict.answer != ReplyAction.REPLY:
            keep(row, verdict, world.drafts.get(row.message_id or 0, []), now)
            counts.add(verdict)
        elif _take_up(activation, row, verdict, rows[looked:], now):
            return True
    activation_services.drop(activation)
    return False


def decide_for_others(counts: ReplyCounts, *, now: datetime) -> bool:
    """Say of one agent that may not work why nothing is answered; False if there is none."""
    chosen = choosing.notification_work(now=now, limit=BATCH, is_strict=False)
    return any(_decide_for(pk, counts, now=now) for pk in chosen)


@transaction.atomic(durable=True)
def _decide_for(agent: int, counts: ReplyCounts, *, now: datetime) -> bool:
    if not priorities.hold([agent], skips_locked=True):
        return False
    rows = _due(Notification.objects.filter(agent=agent), now)
    world = SituationBatch.of(rows, now=now)
    found = [(row, decide(world.turn(row), limits_of(row.agent), now=now)) for row in rows]
    # What is to be answered is left to a claim: the agent may work again, or woke up.
    found = [(row, verdict) for row, verdict in found
             if verdict.answer != ReplyAction.REPLY and verdict.why != Reason.AWAKE]  # fmt: skip
    for row, verdict in found:
        keep(row, verdict, world.drafts.get(row.message_id or 0, []), now)
        counts.add(verdict)
    return bool(found)


def _due(rows: NotificationQuerySet, now: datetime) -> list[Notification]:
    """Read after locking, so that what others changed for this agent meanwhile is visible."""
    found = list(with_facts(rows.due(now))[:BATCH])
    for row in found:
        if row.message_id is None:  # of a kind that is kept and shown
            settled(row, ReplyVerdict(ReplyAction.HOLD, Reason.UNKNOWN_KIND), now)
    return [row for row in found if row.message_id is not None]


def _take_up(
    activation: Activation,
    row: Notification,
    verdict: ReplyVerdict,
    after: Sequence[Notification],
    now: datetime,
) -> bool:
    """Count the attempt and give the activation its items; False if it was settled meanwhile."""
    message, settings = row.comment, row.agent.settings
    open_still = Message.objects.filter(OPEN, pk=message.pk)
    if not reply_state.start_attempt(open_still, most=settings.tries):
        return False
    kind = row.kind if row.kind in KINDS else "other"
    facts = {"author": message.author, "title": one_line(message.post.title, 80)}
    why = reason(f"activation.{kind}", why=reason(verdict.why.value), **facts)
    others = after[: settings.notifications_per_run - 1]
    activation_services.take_up(activation, [row, *others], why, now=now)
    row.note(verdict=verdict.why.code, why=verdict.reason, considered_at=now)
    message.reply_attempts += 1
    return True
