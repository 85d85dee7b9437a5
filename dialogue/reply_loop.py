"""Answer what awaits an answer.

    due notification ──decide──┬─> pass: read, with the reason
                               ├─> hold, wait: with the reason, and until when
                               └─> reply: try counted, agent woken ──commit──>
                                   voice ─> checks ─> draft ─> the mode decides

A verdict is kept with the notification and told to the message, so that the pages below can
say why something is not answered. The clock is an argument; a round never raises for one
comment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F

from dialogue import activations
from dialogue.answering import Tally, answer
from dialogue.circumstances import World, limits_of
from dialogue.models import Activation, Agent, Notification, Presence
from dialogue.models.activation import Purpose
from dialogue.models.notification import Outcome
from dialogue.turn_taking import Answer, Verdict, Why, decide
from surfaces.errors import StaleState
from surfaces.models import Draft, Message
from surfaces.models.draft import DEAD
from surfaces.models.message import OPEN, ReplyStatus, SpamStatus
from surfaces.showing import plain

Clock = Callable[[], datetime]

BATCH = 25  # notifications considered per claim
# No answer will come there, so none that would answer the rest of its run.
LEFT_BEHIND = {Why.SPAM, Why.DELETED, Why.REFUSED}
# What waits without an end: looked at again when the circumstances changed.
HELD = [Why.PAUSED, Why.SWITCHED_OFF, Why.MODE_OFF, Why.ACCOUNT_OFF, Why.ELSEWHERE]


def answer_due(
    worker: str,
    *,
    clock: Clock,
    until: Callable[[], bool] = lambda: False,
) -> Tally:
    """Consider what is due and answer it, until nothing is. Safe to run many times at once."""
    tally = Tally()
    while not until():
        looked, woken = claim(worker, tally, now=clock())
        if woken:
            answer(woken, tally, clock=clock, is_ending=until)
        elif not looked:
            break
    return tally


def release_held(*, now: datetime) -> int:
    """Make due again what waited for a switch, a pause or a person, where that is over."""
    codes = [why.code for why in HELD]
    waiting = Notification.objects.unread().filter(look_at=None, draft=None)
    presences = Presence.objects.filter(
        pk__in=waiting.filter(verdict__in=codes).values("presence").distinct()
    ).select_related("agent__settings", "account__surface")
    world = World.of([], now=now)
    able = [row.pk for row in presences if row.ended_at or world.may_speak(row)]
    freed = waiting.filter(presence__in=able, verdict__in=codes).update(look_at=now)
    judged = waiting.filter(verdict=Why.SUSPECT.code).exclude(
        message__spam_status__in=[SpamStatus.SUSPECT]
    )
    return freed + Notification.objects.filter(pk__in=judged.values("pk")).update(look_at=now)


# ── considering ───────────────────────────────────────────────────────────


@transaction.atomic(durable=True)
def claim(worker: str, tally: Tally, *, now: datetime) -> tuple[int, Activation | None]:
    """Decide on what is due until one is to be answered; wake its agent for that one.

    Returns how many were looked at, and the waking. Commits before anything is asked.
    """
    rows = _locked(_due(now))
    if not rows:
        return 0, None
    # Only now: what another worker wrote for these agents has committed, or they are not ours.
    world = World.of(rows, now=now)
    for looked, row in enumerate(rows, 1):
        if row.agent_id in world.awake:
            continue
        verdict = decide(world.turn(row), limits_of(row.agent), now=now)
        if verdict.answer == Answer.REPLY:
            if woken := _wake(row, verdict, worker, now):
                return looked, woken
        else:
            _keep(row, verdict, world.drafts.get(row.message_id or 0, []), now)
            _count(tally, verdict)
    return len(rows), None


def _due(now: datetime) -> list[Notification]:
    """The longest due, without those of agents that are awake; nobody else holds them."""
    awake = Activation.objects.running().values("agent")
    rows = Notification.objects.due(now).exclude(agent__in=awake).order_by("look_at", "id")
    agents = ["agent__settings", "presence__agent__settings"]
    rows = rows.select_related(*agents, "presence__account__surface", "message__post")
    heavy = [f"message__{name}" for name in ("raw_json", "search", "post__raw_json", "post__search",
                                             "post__content")]  # fmt: skip
    return list(rows.defer(*heavy).select_for_update(of=("self",), skip_locked=True)[:BATCH])


def _locked(rows: list[Notification]) -> list[Notification]:
    """Those whose agent nobody else decides for at this moment.

    Limits are counted before a reply is written, so one agent's are counted by one worker.
    """
    agents = Agent.objects.filter(pk__in={row.agent_id for row in rows}).order_by("pk")
    free = agents.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
    ours = set(free)
    return [row for row in rows if row.agent_id in ours]


def _count(tally: Tally, verdict: Verdict) -> None:
    name = {Answer.PASS: "passed", Answer.HOLD: "held", Answer.WAIT: "waits"}[verdict.answer]
    setattr(tally, name, getattr(tally, name) + 1)


def _keep(row: Notification, verdict: Verdict, drafts: Sequence[Draft], now: datetime) -> None:
    """Write a verdict down, with the notification and where the pages below read it."""
    facts = {"verdict": verdict.why.code, "why": verdict.words, "considered_at": now}
    if verdict.why == Why.ANSWERED:
        row.note(**facts, read_at=now, outcome=Outcome.ANSWERED, look_at=None)
        unsent = Message.objects.filter(pk=row.comment.pk).exclude(reply_status=ReplyStatus.SENT)
        unsent.update(reply_status=ReplyStatus.SENT, reply_why="")
        return
    if verdict.answer == Answer.PASS:
        row.note(**facts, read_at=now, outcome=Outcome.PASSED, look_at=None)
        if verdict.why in LEFT_BEHIND:
            _free_run(row, now)
    else:
        live = next((draft for draft in drafts if draft.state not in DEAD), None)
        row.note(**facts, look_at=verdict.until, draft=live)
    _tell(row, verdict)


def _free_run(row: Notification, now: datetime) -> None:
    """What was passed because the answer to this one would answer it too is open again."""
    message = row.comment
    run = Notification.objects.filter(
        agent=row.agent_id, verdict=Why.IN_RUN.code, outcome=Outcome.PASSED,
        message__post=message.post_id, message__parent=message.parent_id,
        message__author=message.author,
    )  # fmt: skip
    run.update(read_at=None, outcome="", look_at=now)


def _tell(row: Notification, verdict: Verdict) -> None:
    """Let the message say it too. A failure keeps the words it failed with."""
    rows = Message.objects.filter(pk=row.comment.pk)
    if verdict.why == Why.TRIED_OUT:
        rows.filter(OPEN).update(reply_status=ReplyStatus.FAILED, reply_why=verdict.words)
    elif verdict.why != Why.DRAFTED:
        rows.filter(OPEN).update(reply_why=verdict.words)


def _wake(row: Notification, verdict: Verdict, worker: str, now: datetime) -> Activation | None:
    """Count the try and wake the agent; None if somebody was faster."""
    message, tries = row.comment, row.agent.settings.tries
    open_still = Message.objects.filter(OPEN, pk=message.pk, reply_attempts__lt=tries)
    title = plain(message.post.title, 80)
    why = f"{row.kind.capitalize()} by {message.author} in “{title}”: {verdict.why.value}."
    try:
        with transaction.atomic():
            if not open_still.update(
                reply_status=ReplyStatus.PENDING, reply_attempts=F("reply_attempts") + 1,
                reply_why="",
            ):  # fmt: skip
                raise StaleState("It is not open any more.")
            woken = activations.begin(
                row.presence, purpose=Purpose.REPLY, why=why, worker=worker, now=now,
                notification=row,
            )  # fmt: skip
            row.note(verdict=verdict.why.code, why=verdict.words, considered_at=now)
    except StaleState:
        return None
    message.reply_attempts += 1
    return woken
