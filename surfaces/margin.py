"""Say in a line beside a message why it was answered, held or left. Pure: rows in, words out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surfaces.models import Draft, Message
from surfaces.models.draft import Judged, State
from surfaces.models.message import MOST_TRIES, ReplyStatus, SpamStatus
from surfaces.showing import span

DROPPED = {
    State.WITHDRAWN: "Draft withdrawn",
    State.FAILED: "Draft failed",
    State.SHADOWED: "Draft kept in the shadow",
}

LEADS = {"Passed", "Held", "Waits"}  # a decision's sentence begins with one
JUDGED = {Judged.REJECTED: "Draft rejected", Judged.SENT_BACK: "Draft sent back"}

LIVE = {
    State.APPROVED: "Approved, not sent yet.",
    State.SENDING: "On its way.",
    State.UNKNOWN: "Nobody knows whether it was sent.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """`lead` in bold, `words` after it, either may be empty; `draft` is where to read more."""

    lead: str
    words: str = ""
    draft: int | None = None


def notes(message: Message, drafts: Sequence[Draft], maker: Draft | None = None) -> list[Note]:
    """`drafts` answer the message; `maker` is the draft that became it."""
    if message.is_ours:
        return [*_deleted(message), _ours(maker)]
    found = [*_deleted(message), *_spam(message)]
    if not message.is_post:
        found += _reply(message, drafts)
    for draft in drafts:
        if lead := DROPPED.get(State(draft.state)):
            if draft.state == State.WITHDRAWN and draft.judged:
                lead = JUDGED.get(Judged(draft.judged), lead)
            by = f" by {_name(draft.decided_by)}" if draft.decided_by else ""
            found.append(Note(f"{lead}{by}.", draft.why, draft.pk))
    return found


def _deleted(message: Message) -> list[Note]:
    if message.deleted_at is None:
        return []
    return [Note("Deleted at the source.", "We keep what it said.")]


def _ours(maker: Draft | None) -> Note:
    if maker is None:
        return Note("Ours.", "Written there by hand, or before this program kept drafts.")
    if maker.retracted_at:
        return Note("Taken back.", maker.why, maker.pk)
    if not maker.decided_by or not maker.decided_at:
        return Note("Sent without a person.", "", maker.pk)
    after = span(maker.decided_at - maker.made_at)
    return Note(f"Approved by {_name(maker.decided_by)}", f"after {after}.", maker.pk)


def _spam(message: Message) -> list[Note]:
    judge = getattr(message, "judged_by", None)
    if judge and message.spam_status:
        return [Note(f"{_name(judge).capitalize()} called it {message.spam_status}.")]
    if message.spam_status not in {SpamStatus.SPAM, SpamStatus.SUSPECT}:
        return []
    reasons = [str(reason[-1]).rstrip(".") for reason in message.spam_reasons if reason]
    why = "; ".join(reasons)
    score = "" if message.spam_score is None else f" Score {message.spam_score:.2f}."
    lead = "Left as spam." if message.spam_status == SpamStatus.SPAM else "Held for a person."
    return [Note(lead, f"{why[0].upper()}{why[1:]}.{score}" if why else score.strip())]


def _reply(message: Message, drafts: Sequence[Draft]) -> list[Note]:
    live = next((draft for draft in drafts if State(draft.state) not in DROPPED), None)
    tries = f"try {message.reply_attempts} of {MOST_TRIES}"
    if message.reply_status == ReplyStatus.SENT:
        return [Note("Answered.", "", live.pk if live else None)]
    if message.reply_status == ReplyStatus.FAILED:
        why = _decided(message)[1] or f"{message.reply_attempts} of {MOST_TRIES} tries used."
        return [Note("Not answered: it failed.", why)]
    if live:
        lead = LIVE.get(State(live.state), "Draft waits.")
        return [Note(lead, f"{live.why} {tries.capitalize()}.".strip(), live.pk)]
    if message.reply_status == ReplyStatus.PENDING:
        lead, why = _decided(message)
        return [Note(lead or "Being answered.", f"{why} {tries.capitalize()}.".strip())]
    if message.reply_why:
        lead, why = _decided(message)
        return [Note(lead or "Passed.", why)]
    return [] if message.spam_status or message.deleted_at else [Note("", "Not answered yet.")]


def _decided(message: Message) -> tuple[str, str]:
    """A decision's sentence in two: "Waits: outside its hours." is "Waits.", "Outside its …"."""
    lead, colon, rest = message.reply_why.partition(": ")
    if colon and rest and lead in LEADS:
        return f"{lead}.", f"{rest[0].upper()}{rest[1:]}"
    return "", message.reply_why


def may_retry(message: Message, drafts: Sequence[Draft]) -> bool:
    """Whether a person may ask for an answer after all: it failed, or it was passed."""
    if message.is_ours or message.is_post or message.deleted_at:
        return False
    if message.spam_status == SpamStatus.SPAM:
        return False
    if any(State(draft.state) not in DROPPED for draft in drafts):
        return False
    was_passed = not message.reply_status and message.reply_why.startswith("Passed: ")
    return message.reply_status == ReplyStatus.FAILED or was_passed


def _name(actor: str) -> str:
    kind, _, rest = actor.partition(":")
    return rest if kind in {"operator", "agent"} and rest else f"the {kind}"
