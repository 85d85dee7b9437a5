"""Whether a comment is answered, and if not, why: one pure decision.

The rules of replies.md, section 4, in their order: the first that applies wins.

    pass   it will not be answered, unless a fact changes
    hold   a person looks first
    wait   not now; `until` says when to look again, if that is known
    reply  wake the agent
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum


class Answer(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict
    HOLD = "hold"
    WAIT = "wait"
    REPLY = "reply"


class Why(Enum):
    """Why we decided so, in words an operator can read."""

    READY = "nothing speaks against it"
    SPAM = "it is marked as spam"
    SUSPECT = "the spam filter is unsure; a person looks first"
    TRIED_OUT = "it was tried often enough"
    ANSWERED = "it is answered"
    OURS = "it is our own comment"
    OUR_AGENT = "another agent of ours wrote it, and agents do not talk with each other unasked"
    DELETED = "it was deleted at the source"
    TOO_OLD = "it is older than the agent answers"
    NO_THREAD = "its thread is not known"
    THREAD_GONE = "its thread was deleted at the source"
    FORBIDDEN = "the surface does not allow a reply here"
    REFUSED = "the surface refused it for good"
    REJECTED = "a person rejected the words written for it"
    SHADOWED = "shadow: the would-be reply is kept, nothing was sent"
    DRAFTED = "its reply is written and not sent yet"
    IN_RUN = "the answer to another comment of this run answers it too"
    PRESENCE_ENDED = "the agent does not speak through this account any more"
    PAUSED = "sending is paused"
    SWITCHED_OFF = "the agent does not answer by itself"
    MODE_OFF = "the mode is off"
    ACCOUNT_OFF = "the account cannot write"
    ELSEWHERE = "the agent lives elsewhere and answers by itself"
    HOURS = "outside the agent's hours"
    DAY_FULL = "today's replies are used up"
    THREAD_FULL = "enough was said in this thread"
    TOO_SOON = "the last reply is too fresh"
    SPENT = "the budget is spent"
    BACKED_OFF = "the agent failed several times in a row"
    BETWEEN_TRIES = "the last try failed; it waits before the next"
    AWAKE = "the agent is busy with something else"

    @property
    def code(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """All that the decision may depend on."""

    # the comment
    spam_status: str | None = None
    reply_status: str | None = None
    attempts: int = 0
    failure: str = ""  # why it failed, where it did
    is_answered: bool = False
    is_ours: bool = False
    is_our_agent: bool = False
    is_deleted: bool = False
    written_at: datetime | None = None
    thread_is_known: bool = True
    thread_is_deleted: bool = False
    forbidden: str = ""  # the surface's rule that forbids a reply, in words
    has_live_draft: bool = False
    is_shadowed: bool = False
    rejection: str = ""  # why a person rejected what was written
    in_run_of: str = ""  # the comment whose answer answers this too, in words
    not_before: datetime | None = None  # between tries
    # the agent there
    is_present: bool = True
    paused: str = ""  # what is paused and why, in words
    is_autonomous: bool = True
    mode: str = "review"
    account_trouble: str = ""
    lives_elsewhere: bool = False
    opens_at: datetime | None = None  # outside its hours: when they begin
    replies_today: int = 0
    day_ends_at: datetime | None = None
    replies_in_thread: int = 0
    last_reply_at: datetime | None = None
    spent: str = ""  # which budget, in words
    spent_until: datetime | None = None
    backs_off_until: datetime | None = None
    is_awake: bool = False
    # A person asked for this one: limits of taste do not hold it, limits of leave do.
    was_asked_for: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    tries: int = 10
    oldest: timedelta | None = None
    per_day: int = 20
    per_thread: int = 3
    spacing: timedelta = field(default=timedelta(seconds=60))


@dataclass(frozen=True, slots=True)
class Verdict:
    answer: Answer
    why: Why
    detail: str = ""
    until: datetime | None = None

    @property
    def words(self) -> str:
        """One sentence for operators."""
        lead = {"pass": "Passed", "hold": "Held", "wait": "Waits", "reply": "Answers"}
        said = f"{lead[self.answer]}: {(self.detail or self.why.value).rstrip('.')}"
        return f"{said}, until {self.until:%d %b %H:%M} UTC." if self.until else f"{said}."


def decide(turn: Turn, limits: Limits, *, now: datetime) -> Verdict:
    """Try the rules in order. The first that applies wins."""
    return (
        _judged(turn)
        or _closed(turn, limits)
        or _under_way(turn, limits, now)
        or _leave(turn, now)
        or _measure(turn, limits, now)
        or Verdict(Answer.REPLY, Why.READY)
    )


def _judged(turn: Turn) -> Verdict | None:
    if turn.spam_status == "spam":
        return Verdict(Answer.PASS, Why.SPAM)
    if turn.spam_status == "suspect":
        return Verdict(Answer.HOLD, Why.SUSPECT)
    return None


def _closed(turn: Turn, limits: Limits) -> Verdict | None:
    """What no waiting will change."""
    failed = turn.reply_status == "failed"
    if failed and turn.attempts >= limits.tries:
        return _failed(turn, Why.TRIED_OUT)
    if turn.is_answered or turn.reply_status == "sent":
        return Verdict(Answer.PASS, Why.ANSWERED)
    if failed:
        return _failed(turn, Why.REFUSED)
    for applies, why in (
        (turn.is_ours, Why.OURS),
        (turn.is_our_agent, Why.OUR_AGENT),
        (turn.is_deleted, Why.DELETED),
        (not turn.thread_is_known, Why.NO_THREAD),
        (turn.thread_is_deleted, Why.THREAD_GONE),
        (turn.is_shadowed, Why.SHADOWED),
        (not turn.is_present, Why.PRESENCE_ENDED),
    ):
        if applies:
            return Verdict(Answer.PASS, why)
    if turn.forbidden:
        return Verdict(Answer.PASS, Why.FORBIDDEN, turn.forbidden)
    if turn.rejection:
        return Verdict(Answer.PASS, Why.REJECTED, f"{Why.REJECTED.value}: {turn.rejection}")
    return None


def _failed(turn: Turn, why: Why) -> Verdict:
    return Verdict(Answer.PASS, why, turn.failure and f"{why.value}: {turn.failure}")


def _under_way(turn: Turn, limits: Limits, now: datetime) -> Verdict | None:
    if turn.has_live_draft:
        return Verdict(Answer.WAIT, Why.DRAFTED)
    if turn.attempts >= limits.tries:  # the last one died before it could say so
        return _failed(turn, Why.TRIED_OUT)
    if _is_too_old(turn, limits, now):
        return Verdict(Answer.PASS, Why.TOO_OLD)
    if turn.in_run_of:
        return Verdict(Answer.PASS, Why.IN_RUN, turn.in_run_of)
    return None


def _is_too_old(turn: Turn, limits: Limits, now: datetime) -> bool:
    """What a person asked for, or what was begun in time, is never too old."""
    if limits.oldest is None or turn.written_at is None:
        return False
    return now - turn.written_at > limits.oldest and not (turn.was_asked_for or turn.attempts)


def _leave(turn: Turn, now: datetime) -> Verdict | None:
    """Whether the agent may speak here at all, now."""
    if turn.paused:
        return Verdict(Answer.WAIT, Why.PAUSED, turn.paused)
    if turn.lives_elsewhere:
        return Verdict(Answer.WAIT, Why.ELSEWHERE)
    if not turn.is_autonomous:
        return Verdict(Answer.WAIT, Why.SWITCHED_OFF)
    if turn.mode == "off":
        return Verdict(Answer.WAIT, Why.MODE_OFF)
    if turn.account_trouble:
        return Verdict(Answer.WAIT, Why.ACCOUNT_OFF, turn.account_trouble)
    if turn.opens_at and turn.opens_at > now:
        return Verdict(Answer.WAIT, Why.HOURS, until=turn.opens_at)
    if turn.backs_off_until and turn.backs_off_until > now:
        return Verdict(Answer.WAIT, Why.BACKED_OFF, until=turn.backs_off_until)
    return None


def _measure(turn: Turn, limits: Limits, now: datetime) -> Verdict | None:
    """How much, how often, at what cost."""
    if turn.not_before and turn.not_before > now:
        return Verdict(Answer.WAIT, Why.BETWEEN_TRIES, until=turn.not_before)
    if turn.replies_in_thread >= limits.per_thread and not turn.was_asked_for:
        said = f"{turn.replies_in_thread} of {limits.per_thread} replies in this thread are used"
        return Verdict(Answer.PASS, Why.THREAD_FULL, said)
    if turn.replies_today >= limits.per_day:
        said = f"{turn.replies_today} of {limits.per_day} replies of today are used"
        return Verdict(Answer.WAIT, Why.DAY_FULL, said, turn.day_ends_at)
    if turn.last_reply_at and turn.last_reply_at + limits.spacing > now:
        return Verdict(Answer.WAIT, Why.TOO_SOON, until=turn.last_reply_at + limits.spacing)
    if turn.spent:
        return Verdict(Answer.WAIT, Why.SPENT, turn.spent, turn.spent_until)
    if turn.is_awake:
        return Verdict(Answer.WAIT, Why.AWAKE)
    return None
