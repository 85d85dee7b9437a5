"""Decide on due notifications, and start activations for what is to be answered.

    agents with something due, most urgent first (`activations.choosing`)
    due notification ──decide──┬─> pass: read, with the reason
                               ├─> hold, wait: with the reason, and until when
                               └─> reply: attempt counted, activation ──commit──> `runner.run`

An activation takes other due notifications of the presence along; each is decided at its turn.
A decision is stored with the notification and the message, so that pages can show why
something is not answered. The clock is an argument; an error with one comment never ends a round.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction

from dialogue.activations import choosing, priorities
from dialogue.activations import services as activation_services
from dialogue.activations.models import Purpose
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.replies import runner
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict, decide
from dialogue.replies.situation import SituationBatch, limits_of
from dialogue.replies.verdicts import ReplyCounts, keep, settled, with_facts
from surfaces.errors import StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, SpamStatus
from surfaces.models import Message
from surfaces.text.format import one_line
from surfaces.text.reasons import reason

Clock = Callable[[], datetime]

BATCH = 25  # notifications considered per claim, and agents
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
    counts = ReplyCounts()
    while not until() and answer_next(
        worker, counts, clock=clock, until=until, is_ending=is_ending or until
    ):
        pass
    return counts


def answer_next(
    worker: str,
    counts: ReplyCounts,
    *,
    clock: Clock,
    until: Callable[[], bool],
    is_ending: Callable[[], bool],
) -> bool:
    """One activation, or one batch of decisions; False if nothing was due."""
    looked, activation = claim(worker, counts, now=clock())
    if activation:
        runner.run(activation, counts, clock=clock, until=until, is_ending=is_ending)
    return bool(looked)


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


@transaction.atomic(durable=True)
def claim(worker: str, counts: ReplyCounts, *, now: datetime) -> tuple[int, Activation | None]:
    """Decide until one notification is to be answered, and start its activation.

    Returns how many were considered, and the activation. Commits before any request.
    """
    rows = _due(now)
    world = SituationBatch.of(rows, now=now)
    for looked, row in enumerate(rows, 1):
        if row.agent_id in world.awake:
            continue
        verdict = decide(world.turn(row), limits_of(row.agent), now=now)
        if verdict.answer != ReplyAction.REPLY:
            keep(row, verdict, world.drafts.get(row.message_id or 0, []), now)
            counts.add(verdict)
        elif activation := _start(row, verdict, rows[looked:], worker, now):
            return looked, activation
    return len(rows), None


def _due(now: datetime) -> list[Notification]:
    """The due of the most urgent agent that no other worker holds and that is not awake.

    Limits are counted before a reply is written, so one worker at a time decides per agent. Of
    one agent only: what is read about an agent is read for nothing where another is activated.
    """
    chosen = choosing.notification_work(now=now, limit=BATCH, is_strict=False)
    agents = Agent.objects.filter(pk__in=chosen).order_by("priority_at", "pk")
    held = agents.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)[:1]
    # Read after locking, so that what others changed for this agent meanwhile is visible.
    found = with_facts(Notification.objects.due(now).filter(agent__in=list(held)))
    rows = list(found.order_by("look_at", "id")[:BATCH])
    for row in rows:
        if row.message_id is None:  # of a kind that is kept and shown
            settled(row, ReplyVerdict(ReplyAction.HOLD, Reason.UNKNOWN_KIND), now)
    return [row for row in rows if row.message_id is not None]


def _start(
    row: Notification,
    verdict: ReplyVerdict,
    after: Sequence[Notification],
    worker: str,
    now: datetime,
) -> Activation | None:
    """Count the attempt and start an activation; None if another worker was faster."""
    message, agent = row.comment, row.agent
    most = agent.settings.notifications_per_run - 1
    others = [other for other in after if other.presence_id == row.presence_id][:most]
    kind = row.kind if row.kind in KINDS else "other"
    facts = {"author": message.author, "title": one_line(message.post.title, 80)}
    why = reason(f"activation.{kind}", why=reason(verdict.why.value), **facts)
    try:
        with transaction.atomic():
            open_still = Message.objects.filter(OPEN, pk=message.pk)
            if not reply_state.start_attempt(open_still, most=agent.settings.tries):
                raise StaleState("activation.settled_meanwhile")
            activation = activation_services.start(
                row.presence, purpose=Purpose.REPLY, why=why, worker=worker, now=now,
                notification=row, others=others,
            )  # fmt: skip
            row.note(verdict=verdict.why.code, why=verdict.reason, considered_at=now)
    except StaleState:
        return None
    message.reply_attempts += 1
    return activation
