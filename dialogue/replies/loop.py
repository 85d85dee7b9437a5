"""Decide on due notifications and reply.

    due notification ──decide──┬─> pass: read, with the reason
                               ├─> hold, wait: with the reason, and until when
                               └─> reply: attempt counted, activation ──commit──>
                                   voice ─> checks ─> draft ─> the mode decides

A decision is stored with the notification and the message, so that pages can show why
something is not answered. The clock is an argument; an error with one comment never ends a round.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from dialogue.activations import priorities
from dialogue.activations import services as activation_services
from dialogue.activations.models import Purpose
from dialogue.activations.pools import Pool
from dialogue.inbox.models import NotificationOutcome, NotificationQuerySet
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.replies.answer import ReplyCounts, write_reply
from dialogue.replies.decision import Reason, ReplyAction, ReplyVerdict, decide
from dialogue.replies.situation import SituationBatch, limits_of
from surfaces.drafts.models import DEAD
from surfaces.errors import StaleState
from surfaces.messages import reply_state
from surfaces.messages.models import OPEN, SpamStatus
from surfaces.models import Draft, Message
from surfaces.text.format import one_line
from surfaces.text.reasons import reason

Clock = Callable[[], datetime]

BATCH = 25  # notifications considered per claim
COUNTED = {ReplyAction.PASS: "passed", ReplyAction.HOLD: "held", ReplyAction.WAIT: "waits"}
KINDS = {"reply", "mention", "comment"}  # notifications with a sentence of their own
# No reply will be written, so other comments of the run are not covered by one.
LEFT_BEHIND = {Reason.SPAM, Reason.DELETED, Reason.REFUSED}
# Waits without a time: checked again when circumstances change.
HELD = [Reason.PAUSED, Reason.SWITCHED_OFF, Reason.MODE_OFF, Reason.ACCOUNT_OFF, Reason.ELSEWHERE]


def answer_due(
    worker: str,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
    is_ending: Callable[[], bool] | None = None,
    pool: str = Pool.NOTIFICATION,
) -> ReplyCounts:
    """Decide and reply until nothing is due. Safe in many workers at once.

    After `until` no reply is begun; what is being written stops when `is_ending`.
    """
    tally = ReplyCounts()
    while Pool(pool).answers and not until():
        looked, woken = claim(worker, tally, now=clock())
        if woken:
            write_reply(woken, tally, clock=clock, is_ending=is_ending or until)
        elif not looked:
            break
    return tally


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
    judged = Notification.objects.filter(pk__in=judged.values("pk"))
    return priorities.move(freed, look_at=now) + priorities.move(judged, look_at=now)


@transaction.atomic(durable=True)
def claim(worker: str, tally: ReplyCounts, *, now: datetime) -> tuple[int, Activation | None]:
    """Decide until one notification is to be answered, and start its activation.

    Returns how many were considered, and the activation. Commits before any request.
    """
    waiting = _due(now)
    # Those whose agent no other worker holds: limits are counted before a reply is written, so
    # one worker at a time decides per agent.
    agents = Agent.objects.filter(pk__in={row.agent_id for row in waiting}).order_by("pk")
    ours = set(agents.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
    if not ours:
        return 0, None
    # Read after locking, so that what others changed for these agents meanwhile is visible.
    rows = list(_with_facts(Notification.objects.filter(pk__in=[
        row.pk for row in waiting if row.agent_id in ours
    ])))  # fmt: skip
    world = SituationBatch.of(rows, now=now)
    for looked, row in enumerate(rows, 1):
        if row.agent_id in world.awake:
            continue
        verdict = decide(world.turn(row), limits_of(row.agent), now=now)
        if verdict.answer == ReplyAction.REPLY:
            if woken := _wake(row, verdict, worker, now):
                return looked, woken
        else:
            _keep(row, verdict, world.drafts.get(row.message_id or 0, []), now)
            name = COUNTED[verdict.answer]
            setattr(tally, name, getattr(tally, name) + 1)
    return len(rows), None


def _due(now: datetime) -> list[Notification]:
    """The longest due, without those of agents with a running activation; locked."""
    awake = Activation.objects.running().values("agent")
    rows = Notification.objects.due(now).exclude(agent__in=awake).order_by("look_at", "id")
    return list(rows.select_for_update(of=("self",), skip_locked=True)[:BATCH])


def _with_facts(rows: NotificationQuerySet) -> NotificationQuerySet:
    """With agent, account and message, without their long columns."""
    rows = rows.order_by("look_at", "id")
    agents = ["agent__settings", "presence__agent__settings"]
    rows = rows.select_related(*agents, "presence__account__surface", "message__post")
    heavy = [f"message__{name}" for name in ("raw_json", "search", "post__raw_json", "post__search",
                                             "post__content")]  # fmt: skip
    return rows.defer(*heavy)


def _keep(row: Notification, verdict: ReplyVerdict, drafts: Sequence[Draft], now: datetime) -> None:
    """Store a decision with the notification and the message."""
    facts = {"verdict": verdict.why.code, "why": verdict.reason, "considered_at": now}
    if verdict.why == Reason.ANSWERED:
        row.note(**facts, read_at=now, outcome=NotificationOutcome.ANSWERED, look_at=None)
        reply_state.mark_sent(Message.objects.filter(pk=row.comment.pk))
        return
    if verdict.answer == ReplyAction.PASS:
        row.note(**facts, read_at=now, outcome=NotificationOutcome.PASSED, look_at=None)
        if verdict.why in LEFT_BEHIND:
            # Reopen comments that were passed because the reply to this one would cover them.
            message = row.comment
            Notification.objects.filter(
                agent=row.agent_id, verdict=Reason.IN_RUN.code, message__author=message.author,
                outcome=NotificationOutcome.PASSED, message__post=message.post_id,
                message__parent=message.parent_id,
            ).update(read_at=None, outcome="", look_at=now)  # fmt: skip
    else:
        live = next((draft for draft in drafts if draft.state not in DEAD), None)
        row.note(**facts, look_at=verdict.until, draft=live)
    # The message has the reason, too. A failed one keeps its own.
    rows = Message.objects.filter(pk=row.comment.pk)
    if verdict.why == Reason.TRIED_OUT:
        reply_state.mark_failed(rows.filter(OPEN), verdict.reason)
    elif verdict.why != Reason.DRAFTED:
        reply_state.note_reason(rows, verdict.reason)


def _wake(
    row: Notification, verdict: ReplyVerdict, worker: str, now: datetime
) -> Activation | None:
    """Count the attempt and start an activation; None if another worker was faster."""
    message, tries = row.comment, row.agent.settings.tries
    open_still = Message.objects.filter(OPEN, pk=message.pk)
    kind = row.kind if row.kind in KINDS else "other"
    facts = {"author": message.author, "title": one_line(message.post.title, 80)}
    why = reason(f"activation.{kind}", why=reason(verdict.why.value), **facts)
    try:
        with transaction.atomic():
            if not reply_state.start_attempt(open_still, most=tries):
                raise StaleState(_lazy("It is not open any more."))
            woken = activation_services.start(
                row.presence, purpose=Purpose.REPLY, why=why, worker=worker, now=now,
                notification=row,
            )  # fmt: skip
            row.note(verdict=verdict.why.code, why=verdict.reason, considered_at=now)
    except StaleState:
        return None
    message.reply_attempts += 1
    return woken
