"""Say in a line beside a message why it was answered, held or left. Pure: rows in, words out.

What a decision said of itself is stored in English and shown as it stands; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later

from surfaces.models import Draft, Message
from surfaces.models.draft import Judged, State
from surfaces.models.message import MOST_TRIES, ReplyStatus, SpamStatus
from surfaces.showing import span

DROPPED = {
    State.WITHDRAWN: (later("Draft withdrawn."), later("Draft withdrawn by %s.")),
    State.FAILED: (later("Draft failed."), later("Draft failed.")),
    State.SHADOWED: (later("Draft kept in the shadow."), later("Draft kept in the shadow.")),
}
JUDGED = {
    Judged.REJECTED: (later("Draft rejected."), later("Draft rejected by %s.")),
    Judged.SENT_BACK: (later("Draft sent back."), later("Draft sent back by %s.")),
}
# A decision's sentence begins with one.
LEADS = {
    "Passed": later("Passed."),
    "Held": later("Held."),
    "Waits": later("Waits."),
    "Answers": later("Answers."),
}
LIVE = {
    State.APPROVED: later("Approved, not sent yet."),
    State.SENDING: later("On its way."),
    State.UNKNOWN: later("Nobody knows whether it was sent."),
}


@dataclass(frozen=True, slots=True)
class Note:
    """`lead` in bold, `words` after it, then a time; each may be missing.

    `draft` and `url` are where to read more.
    """

    lead: str
    words: str = ""
    draft: int | None = None
    at: datetime | None = None
    url: str = ""


def notes(
    message: Message,
    drafts: Sequence[Draft],
    maker: Draft | None = None,
    also: Sequence[Note] = (),
) -> list[Note]:
    """`drafts` answer the message; `maker` is the draft that became it.

    `also`: what the floors above say of it.
    """
    if message.is_ours:
        return [*_changed(message), _ours(maker), *also]
    found = [*_changed(message), *_spam(message)]
    if not message.is_post:
        found += _reply(message, drafts) or ([] if _is_settled(message, also) else [_open()])
    for draft in drafts:
        if lead := DROPPED.get(State(draft.state)):
            if draft.state == State.WITHDRAWN and draft.judged:
                lead = JUDGED.get(Judged(draft.judged), lead)
            found.append(Note(_by(lead, draft.decided_by), draft.why, draft.pk, draft.decided_at))
    return [*found, *also, *_clean(message)]


def _is_settled(message: Message, also: Sequence[Note]) -> bool:
    """Whether something else says why there is no answer."""
    return bool(message.spam_status or message.deleted_at or any(note.lead for note in also))


def _open() -> Note:
    return Note("", _("Not answered yet."))


def _by(lead: tuple[object, object], actor: str) -> str:
    """The sentence that names who did it, where that is known."""
    words = str(lead[1 if actor else 0])
    return words % _name(actor) if "%s" in words else words


def _changed(message: Message) -> list[Note]:
    if message.deleted_at:
        return [
            Note(_("Deleted at the source."), _("We keep what it said."), at=message.deleted_at)
        ]
    if message.edited_at:
        return [Note(_("Edited at the source."), at=message.edited_at)]
    return []


def _ours(maker: Draft | None) -> Note:
    if maker is None:
        return Note(_("Ours."), _("Written there by hand, or before this program kept drafts."))
    if maker.retracted_at:
        return Note(_("Taken back."), maker.why, maker.pk, maker.retracted_at)
    if not maker.decided_by or not maker.decided_at:
        return Note(_("Sent without a person."), "", maker.pk)
    after = span(maker.decided_at - maker.made_at)
    changed = f" {_('With edits.')}" if maker.was_edited else ""
    words = _("after %s.") % after + changed
    return Note(_("Approved by %s") % _name(maker.decided_by), words, maker.pk)


def _spam(message: Message) -> list[Note]:
    judge = getattr(message, "judged_by", None)
    if judge and message.spam_status:
        who = _name(judge).capitalize()
        said = _("%(who)s called it %(what)s.") % {"who": who, "what": message.spam_status}
        return [Note(said, _score(message))]
    if message.spam_status not in {SpamStatus.SPAM, SpamStatus.SUSPECT}:
        return []
    reasons = [str(reason[-1]).rstrip(".") for reason in message.spam_reasons if reason]
    why = "; ".join(reasons)
    is_spam = message.spam_status == SpamStatus.SPAM
    lead = _("Left as spam.") if is_spam else _("Held for a person.")
    said = f"{why[0].upper()}{why[1:]}. " if why else ""
    return [Note(lead, f"{said}{_score(message)}".strip())]


def _clean(message: Message) -> list[Note]:
    """What the filter found nothing in."""
    if message.spam_status or message.spam_score is None:
        return []
    return [Note("", _("Clean, score %.2f.") % message.spam_score)]


def _score(message: Message) -> str:
    """What the filter made of it: "Score 0.71."."""
    return "" if message.spam_score is None else _("Score %.2f.") % message.spam_score


def _reply(message: Message, drafts: Sequence[Draft]) -> list[Note]:
    live = next((draft for draft in drafts if State(draft.state) not in DROPPED), None)
    tries = _("Try %(n)d of %(most)d.") % {"n": message.reply_attempts, "most": MOST_TRIES}
    if message.reply_status == ReplyStatus.SENT:
        return [Note(_("Answered."), "", live.pk if live else None)]
    if message.reply_status == ReplyStatus.FAILED:
        used = {"n": message.reply_attempts, "most": MOST_TRIES}
        why = decided(message.reply_why)[1] or _("%(n)d of %(most)d tries used.") % used
        return [Note(_("Not answered: it failed."), why)]
    if live:
        lead = str(LIVE.get(State(live.state), _("Draft waits.")))
        return [Note(lead, f"{live.why} {tries}".strip(), live.pk)]
    lead, why = decided(message.reply_why)
    if message.reply_status == ReplyStatus.PENDING:
        return [Note(lead or _("Being answered."), f"{why} {tries}".strip())]
    if message.reply_why:
        return [Note(lead or _("Passed."), why)]
    return []


def decided(sentence: str) -> tuple[str, str]:
    """A decision's sentence in two: "Waits: outside its hours." is "Waits.", "Outside its …"."""
    lead, colon, rest = sentence.partition(": ")
    if colon and rest and lead in LEADS:
        return str(LEADS[lead]), f"{rest[0].upper()}{rest[1:]}"
    return "", sentence


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
    kind, _colon, rest = actor.partition(":")
    return rest if kind in {"operator", "agent"} and rest else f"the {kind}"
