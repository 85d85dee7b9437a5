"""Decide whether to reply to a comment, and if not, why. Pure.

The first rule that applies wins.

    pass   no reply, unless a fact changes
    hold   an operator decides first
    wait   not now; `until` is the next check, if known
    reply  start an activation
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from surfaces.text.reasons import StoredReason, as_reason, reason


class ReplyAction(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    HOLD = "hold"
    WAIT = "wait"
    REPLY = "reply"


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
    spacing: timedelta = field(default=timedelta(seconds=60))


LEADS = {
    ReplyAction.PASS: "decision.passed",
    ReplyAction.HOLD: "decision.held",
    ReplyAction.WAIT: "decision.waits",
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
        """The decision with its reason, as it is stored."""
        why = as_reason(self.detail or self.why.value)
        if self.until:
            return reason(f"{LEADS[self.answer]}_until", why=why, until=self.until)
        return reason(LEADS[self.answer], why=why)


def decide(turn: Situation, limits: ReplyLimits, *, now: datetime) -> ReplyVerdict:
    """Apply the rules in order. The first that applies wins."""
    return (
        _judged(turn)
        or _closed(turn, limits)
        or _under_way(turn, limits, now)
        or _leave(turn, now)
        or _measure(turn, limits, now)
        or ReplyVerdict(ReplyAction.REPLY, Reason.READY)
    )


def _judged(turn: Situation) -> ReplyVerdict | None:
    if turn.spam_status == "spam":
        return ReplyVerdict(ReplyAction.PASS, Reason.SPAM)
    if turn.spam_status == "suspect":
        return ReplyVerdict(ReplyAction.HOLD, Reason.SUSPECT)
    return None


def _closed(turn: Situation, limits: ReplyLimits) -> ReplyVerdict | None:
    """Rules that waiting does not change."""
    failed = turn.reply_status == "failed"
    if failed and turn.attempts >= limits.tries:
        return _failed(turn, Reason.TRIED_OUT)
    if turn.is_answered or turn.reply_status == "sent":
        return ReplyVerdict(ReplyAction.PASS, Reason.ANSWERED)
    if failed:
        return _failed(turn, Reason.REFUSED)
    for applies, why in (
        (turn.is_ours, Reason.OURS),
        (turn.is_our_agent, Reason.OUR_AGENT),
        (turn.is_deleted, Reason.DELETED),
        (not turn.thread_is_known, Reason.NO_THREAD),
        (turn.thread_is_deleted, Reason.THREAD_GONE),
        (turn.is_shadowed, Reason.SHADOWED),
        (not turn.is_present, Reason.PRESENCE_ENDED),
    ):
        if applies:
            return ReplyVerdict(ReplyAction.PASS, why)
    if turn.forbidden:
        return ReplyVerdict(ReplyAction.PASS, Reason.FORBIDDEN, turn.forbidden)
    if turn.rejection:
        return ReplyVerdict(
            ReplyAction.PASS, Reason.REJECTED, _because(Reason.REJECTED, turn.rejection)
        )
    return None


def _failed(turn: Situation, why: Reason) -> ReplyVerdict:
    return ReplyVerdict(ReplyAction.PASS, why, turn.failure and _because(why, turn.failure))


def _because(why: Reason, cause: StoredReason | str) -> StoredReason:
    return reason("verdict.because", what=reason(why.value), why=as_reason(cause))


def _under_way(turn: Situation, limits: ReplyLimits, now: datetime) -> ReplyVerdict | None:
    if turn.has_live_draft:
        return ReplyVerdict(ReplyAction.WAIT, Reason.DRAFTED)
    if turn.attempts >= limits.tries:  # the last worker died before it recorded the failure
        return _failed(turn, Reason.TRIED_OUT)
    if _is_too_old(turn, limits, now):
        return ReplyVerdict(ReplyAction.PASS, Reason.TOO_OLD)
    if turn.in_run_of:
        return ReplyVerdict(ReplyAction.PASS, Reason.IN_RUN, turn.in_run_of)
    return None


def _is_too_old(turn: Situation, limits: ReplyLimits, now: datetime) -> bool:
    """Requested comments, and those begun in time, are never too old."""
    if limits.oldest is None or turn.written_at is None:
        return False
    return now - turn.written_at > limits.oldest and not (turn.was_asked_for or turn.attempts)


def _leave(turn: Situation, now: datetime) -> ReplyVerdict | None:
    """Rules about permission: pauses, switches, modes, hours."""
    if turn.paused:
        return ReplyVerdict(ReplyAction.WAIT, Reason.PAUSED, turn.paused)
    if turn.lives_elsewhere:
        return ReplyVerdict(ReplyAction.WAIT, Reason.ELSEWHERE)
    if not turn.is_autonomous:
        return ReplyVerdict(ReplyAction.WAIT, Reason.SWITCHED_OFF)
    if turn.mode == "off":
        return ReplyVerdict(ReplyAction.WAIT, Reason.MODE_OFF)
    if turn.account_trouble:
        return ReplyVerdict(ReplyAction.WAIT, Reason.ACCOUNT_OFF, turn.account_trouble)
    if turn.opens_at and turn.opens_at > now:
        return ReplyVerdict(ReplyAction.WAIT, Reason.HOURS, until=turn.opens_at)
    if turn.backs_off_until and turn.backs_off_until > now:
        return ReplyVerdict(ReplyAction.WAIT, Reason.BACKED_OFF, until=turn.backs_off_until)
    return None


def _measure(turn: Situation, limits: ReplyLimits, now: datetime) -> ReplyVerdict | None:
    """Rules about amount: replies, intervals, budgets."""
    if turn.not_before and turn.not_before > now:
        return ReplyVerdict(ReplyAction.WAIT, Reason.BETWEEN_TRIES, until=turn.not_before)
    if turn.replies_in_thread >= limits.per_thread and not turn.was_asked_for:
        said = reason(
            "reply.thread_full_of",
            replies_in_thread=turn.replies_in_thread,
            per_thread=limits.per_thread,
        )
        return ReplyVerdict(ReplyAction.PASS, Reason.THREAD_FULL, said)
    if turn.replies_today >= limits.per_day:
        said = reason("reply.day_full_of", replies_today=turn.replies_today, per_day=limits.per_day)
        return ReplyVerdict(ReplyAction.WAIT, Reason.DAY_FULL, said, turn.day_ends_at)
    if turn.last_reply_at and turn.last_reply_at + limits.spacing > now:
        return ReplyVerdict(
            ReplyAction.WAIT, Reason.TOO_SOON, until=turn.last_reply_at + limits.spacing
        )
    if turn.spent:
        return ReplyVerdict(ReplyAction.WAIT, Reason.SPENT, turn.spent, turn.spent_until)
    if turn.is_awake:
        return ReplyVerdict(ReplyAction.WAIT, Reason.AWAKE)
    return None
