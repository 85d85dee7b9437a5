"""Decide whether to reply to a comment, and if not, why. Pure.

The first rule that applies wins.

    pass   no reply, unless a fact changes
    hold   an operator decides first
    wait   not now; `until` is the next check, if known
    reply  start an activation
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import Any

from surfaces.text.reasons import StoredReason, as_reason, reason


class ReplyAction(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    HOLD = "hold"
    WAIT = "wait"
    REPLY = "reply"


PASS, HOLD, WAIT = ReplyAction.PASS, ReplyAction.HOLD, ReplyAction.WAIT


class Reason(Enum):
    """Reasons of a decision, by the code of their sentence."""

    READY = "verdict.ready"
    SPAM = "verdict.spam"
    SUSPECT = "verdict.suspect"
    TRIED_OUT = "verdict.tried_out"
    ANSWERED = "verdict.answered"
    OURS = "verdict.ours"
    OUR_AGENT = "verdict.our_agent"
    DELETED = "verdict.deleted"
    TOO_OLD = "verdict.too_old"
    NO_THREAD = "verdict.no_thread"
    THREAD_GONE = "verdict.thread_gone"
    FORBIDDEN = "verdict.forbidden"
    REFUSED = "verdict.refused"
    REJECTED = "verdict.rejected"
    SHADOWED = "verdict.shadowed"
    DRAFTED = "verdict.drafted"
    IN_RUN = "verdict.in_run"
    PRESENCE_ENDED = "verdict.presence_ended"
    PAUSED = "verdict.paused"
    SWITCHED_OFF = "verdict.switched_off"
    MODE_OFF = "verdict.mode_off"
    ACCOUNT_OFF = "verdict.account_off"
    ELSEWHERE = "verdict.elsewhere"
    HOURS = "verdict.hours"
    DAY_FULL = "verdict.day_full"
    THREAD_FULL = "verdict.thread_full"
    TOO_SOON = "verdict.too_soon"
    SPENT = "verdict.spent"
    BACKED_OFF = "verdict.backed_off"
    BETWEEN_TRIES = "verdict.between_tries"
    AWAKE = "verdict.awake"
    NOT_WANTED = "verdict.not_wanted"
    TOOL_WAITS = "verdict.tool_waits"
    STOPPED = "verdict.stopped"
    UNKNOWN_KIND = "verdict.unknown_kind"

    @property
    def code(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """All facts that the decision depends on."""

    # the comment
    spam_status: str | None = None
    reply_status: str | None = None
    attempts: int = 0
    failure: StoredReason | str = ""  # why it failed, where it did
    is_answered: bool = False
    is_ours: bool = False
    is_our_agent: bool = False
    is_deleted: bool = False
    written_at: datetime | None = None
    thread_is_known: bool = True
    thread_is_deleted: bool = False
    forbidden: StoredReason | str = ""  # the surface's rule that forbids a reply
    has_live_draft: bool = False
    is_shadowed: bool = False
    rejection: StoredReason | str = ""  # why a person rejected what was written
    in_run_of: StoredReason | str = ""  # the comment whose answer answers this too
    not_before: datetime | None = None  # between tries
    is_wanted: bool = True  # the agent answers notifications of this kind
    waits_for_tool: bool = False  # its conversation waits for an operator
    # the agent there
    is_present: bool = True
    paused: StoredReason | str = ""  # what is paused and why
    is_autonomous: bool = True
    mode: str = "review"
    account_trouble: StoredReason | str = ""
    lives_elsewhere: bool = False
    opens_at: datetime | None = None  # outside its hours: when they begin
    replies_today: int = 0
    day_ends_at: datetime | None = None
    replies_in_thread: int = 0
    last_reply_at: datetime | None = None
    spent: StoredReason | str = ""  # which budget
    spent_until: datetime | None = None
    backs_off_until: datetime | None = None
    is_awake: bool = False
    # An operator requested it: limits of amount do not apply, permissions do.
    was_asked_for: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyLimits:
    tries: int = 10
    oldest: timedelta | None = None
    per_day: int = 20
    per_thread: int = 3
    spacing: timedelta = timedelta(seconds=60)


LEADS = {
    PASS: "decision.passed",
    HOLD: "decision.held",
    WAIT: "decision.waits",
    ReplyAction.REPLY: "decision.answers",
}


@dataclass(frozen=True, slots=True)
class ReplyVerdict:
    answer: ReplyAction
    why: Reason
    detail: StoredReason | str = ""
    until: datetime | None = None

    @property
    def reason(self) -> StoredReason:
        why = as_reason(self.detail or self.why.value)
        if self.until:
            return reason(f"{LEADS[self.answer]}_until", why=why, until=self.until)
        return reason(LEADS[self.answer], why=why)


def decide(turn: Situation, limits: ReplyLimits, *, now: datetime) -> ReplyVerdict:
    for applies, *verdict in (*_of_comment(turn, limits, now), *_of_agent(turn, limits, now)):
        if applies:
            return ReplyVerdict(*verdict)
    return ReplyVerdict(ReplyAction.REPLY, Reason.READY)


def _of_comment(turn: Situation, limits: ReplyLimits, now: datetime) -> list[tuple[Any, ...]]:
    """Rules that waiting does not change: whether one applies, and the verdict then."""
    failed, is_last = turn.reply_status == "failed", turn.attempts >= limits.tries
    tried_out = (PASS, Reason.TRIED_OUT, _because(Reason.TRIED_OUT, turn.failure))
    # Requested comments, and those begun in time, are never too old.
    is_too_old = False
    if turn.written_at and limits.oldest is not None:
        is_begun = turn.was_asked_for or turn.attempts
        is_too_old = now - turn.written_at > limits.oldest and not is_begun
    return [
        (turn.spam_status == "spam", PASS, Reason.SPAM),
        (turn.spam_status == "suspect", HOLD, Reason.SUSPECT),
        (failed and is_last, *tried_out),
        (turn.is_answered or turn.reply_status == "sent", PASS, Reason.ANSWERED),
        (failed, PASS, Reason.REFUSED, _because(Reason.REFUSED, turn.failure)),
        (turn.is_ours, PASS, Reason.OURS),
        (turn.is_our_agent, PASS, Reason.OUR_AGENT),
        (turn.is_deleted, PASS, Reason.DELETED),
        (not turn.thread_is_known, PASS, Reason.NO_THREAD),
        (turn.thread_is_deleted, PASS, Reason.THREAD_GONE),
        (turn.is_shadowed, PASS, Reason.SHADOWED),
        (not turn.is_present, PASS, Reason.PRESENCE_ENDED),
        (turn.forbidden, PASS, Reason.FORBIDDEN, turn.forbidden),
        (turn.rejection, PASS, Reason.REJECTED, _because(Reason.REJECTED, turn.rejection)),
        (turn.has_live_draft, WAIT, Reason.DRAFTED),
        (turn.waits_for_tool, WAIT, Reason.TOOL_WAITS),
        (is_last, *tried_out),  # the last worker died before it recorded the failure
        (is_too_old, PASS, Reason.TOO_OLD),
        (not turn.is_wanted and not turn.was_asked_for, PASS, Reason.NOT_WANTED),
        (turn.in_run_of, PASS, Reason.IN_RUN, turn.in_run_of),
    ]


def _of_agent(turn: Situation, limits: ReplyLimits, now: datetime) -> list[tuple[Any, ...]]:
    """Rules about permission (pauses, switches, modes, hours), then about amount."""
    here, most, today = turn.replies_in_thread, limits.per_thread, turn.replies_today
    thread_full = reason("reply.thread_full_of", replies_in_thread=here, per_thread=most)
    day_full = reason("reply.day_full_of", replies_today=today, per_day=limits.per_day)
    soonest = turn.last_reply_at + limits.spacing if turn.last_reply_at else now
    return [
        (turn.paused, WAIT, Reason.PAUSED, turn.paused),
        (turn.lives_elsewhere, WAIT, Reason.ELSEWHERE),
        (not turn.is_autonomous, WAIT, Reason.SWITCHED_OFF),
        (turn.mode == "off", WAIT, Reason.MODE_OFF),
        (turn.account_trouble, WAIT, Reason.ACCOUNT_OFF, turn.account_trouble),
        ((turn.opens_at or now) > now, WAIT, Reason.HOURS, "", turn.opens_at),
        ((turn.backs_off_until or now) > now, WAIT, Reason.BACKED_OFF, "", turn.backs_off_until),
        ((turn.not_before or now) > now, WAIT, Reason.BETWEEN_TRIES, "", turn.not_before),
        (here >= most and not turn.was_asked_for, PASS, Reason.THREAD_FULL, thread_full),
        (today >= limits.per_day, WAIT, Reason.DAY_FULL, day_full, turn.day_ends_at),
        (soonest > now, WAIT, Reason.TOO_SOON, "", soonest),
        (turn.spent, WAIT, Reason.SPENT, turn.spent, turn.spent_until),
        (turn.is_awake, WAIT, Reason.AWAKE),
    ]


def _because(why: Reason, cause: StoredReason | str) -> StoredReason | str:
    return cause and reason("verdict.because", what=reason(why.value), why=as_reason(cause))
