"""Notes beside a message: why it was answered, held or passed. Pure.

What a decision said of itself is stored in English and shown as it stands; the rest is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later
from django.utils.translation import pgettext

from surfaces.drafts.models import Draft, DraftState, Feedback
from surfaces.messages.models import MAX_ATTEMPTS, Message, ReplyStatus, SpamStatus
from surfaces.text.reasons import FORMATS, StoredReason, label, render
from surfaces.text.spans import span

DROPPED = {
    DraftState.WITHDRAWN: (later("Draft withdrawn."), later("Draft withdrawn by %s.")),
    DraftState.FAILED: (later("Draft failed."), later("Draft failed.")),
    DraftState.SHADOWED: (later("Not sent (shadow mode)."), later("Not sent (shadow mode).")),
}
JUDGED = {
    Feedback.REJECTED: (later("Draft rejected."), later("Draft rejected by %s.")),
    Feedback.SENT_BACK: (later("Draft sent back."), later("Draft sent back by %s.")),
}
LEADS = {
    "decision.passed": later("Skipped."),
    "decision.held": later("Held."),
    "decision.waits": later("Waiting."),
    "decision.answers": later("Replying."),
}
LIVE = {
    DraftState.APPROVED: later("Approved, not sent yet."),
    DraftState.SENDING: later("Sending."),
    DraftState.UNKNOWN: later("Delivery unconfirmed."),
}


@dataclass(frozen=True, slots=True)
class Note:
    """`lead` in bold, `words`, then a time; each may be missing. `draft`, `url`: to read more."""

    lead: str
    words: str = ""
    draft: int | None = None
    at: datetime | None = None
    url: str = ""


def notes(
    message: Message, drafts: Sequence[Draft], maker: Draft | None = None, also: Sequence[Note] = ()
) -> list[Note]:
    """`drafts` answer the message, `maker` became it; `also` is what the floors above say of it."""
    if message.is_ours:
        return [*_changed(message), _ours(maker), *also]
    found = [*_changed(message), *_spam(message)]
    if not message.is_post:
        # Something else may say why there is no answer.
        told = message.spam_status or message.deleted_at or any(note.lead for note in also)
        found += _reply(message, drafts) or ([] if told else [Note("", _("No reply yet."))])
    for draft in drafts:
        if lead := DROPPED.get(DraftState(draft.state)):
            if draft.state == DraftState.WITHDRAWN and draft.judged:
                lead = JUDGED.get(Feedback(draft.judged), lead)
            said = _by(lead, draft.decided_by)
            found.append(Note(said, str(draft.why), draft.pk, draft.decided_at))
    found += also
    if not message.spam_status and message.spam_score is not None:
        found.append(Note("", _("No verdict, score %.2f.") % message.spam_score))
    return found


def _by(lead: tuple[object, object], actor: str) -> str:
    """The sentence that names who did it, where that is known."""
    words = str(lead[1 if actor else 0])
    return words % _name(actor) if "%s" in words else words


def _changed(message: Message) -> list[Note]:
    if message.deleted_at:
        kept = _("The stored text is kept.")
        return [Note(_("Deleted on the surface."), kept, at=message.deleted_at)]
    if message.edited_at:
        return [Note(_("Edited on the surface."), at=message.edited_at)]
    return []


def _ours(maker: Draft | None) -> Note:
    if maker is None:
        why = _(
            "It has no draft: it was written on the surface itself, or before drafts were recorded."
        )
        return Note(_("Sent by this account."), why)
    if maker.retracted_at:
        return Note(_("Deleted after sending."), str(maker.why), maker.pk, maker.retracted_at)
    if not maker.decided_by or not maker.decided_at:
        return Note(_("Sent automatically."), "", maker.pk)
    after = span(maker.decided_at - maker.made_at)
    changed = f" {_('Edited before approval.')}" if maker.was_edited else ""
    words = _("after %s.") % after + changed
    return Note(_("Approved by %s") % _name(maker.decided_by), words, maker.pk)


def _spam(message: Message) -> list[Note]:
    judge = getattr(message, "judged_by", None)
    if judge and message.spam_status:
        who = _name(judge).capitalize()
        said = _("%(who)s marked it as %(what)s.") % {
            "who": who,
            "what": label("word", message.spam_status),
        }
        return [Note(said, _score(message))]
    if message.spam_status not in {SpamStatus.SPAM, SpamStatus.SUSPECT}:
        return []
    why = message.spam_why
    is_spam = message.spam_status == SpamStatus.SPAM
    lead = _("Ignored as spam.") if is_spam else _("Held for review.")
    said = f"{why[0].upper()}{why[1:]}{pgettext('at the end of a sentence', '.')}" if why else ""
    return [Note(lead, FORMATS["sentences"]([said, _score(message)]))]


def _score(message: Message) -> str:
    return "" if message.spam_score is None else _("Score %.2f.") % message.spam_score


def _reply(message: Message, drafts: Sequence[Draft]) -> list[Note]:
    live = next((draft for draft in drafts if DraftState(draft.state) not in DROPPED), None)
    used = {"n": message.reply_attempts, "most": MAX_ATTEMPTS}
    tries = _("Attempt %(n)d of %(most)d.") % used
    if message.reply_status == ReplyStatus.SENT:
        return [Note(_("Replied."), "", live.pk if live else None)]
    if message.reply_status == ReplyStatus.FAILED:
        why = decided(message.reply_why)[1] or _("%(n)d of %(most)d attempts used.") % used
        return [Note(_("Reply failed."), why)]
    if live:
        lead = str(LIVE.get(DraftState(live.state), _("Draft waiting for review.")))
        return [Note(lead, f"{live.why} {tries}".strip(), live.pk)]
    lead, why = decided(message.reply_why)
    if message.reply_status == ReplyStatus.PENDING:
        return [Note(lead or _("Reply in progress."), f"{why} {tries}".strip())]
    if message.reply_why:
        return [Note(lead or _("Skipped."), why)]
    return []


def decided(why: StoredReason) -> tuple[str, str]:
    """A decision in two: "Waits: outside its hours." is "Waits.", "Outside its hours."."""
    if lead := LEADS.get(why.base):
        rest = render({**why, "code": "decision.rest_until" if "until" in why else "decision.rest"})
        return str(lead), f"{rest[:1].upper()}{rest[1:]}"
    return "", str(why)


def may_retry(message: Message, drafts: Sequence[Draft]) -> bool:
    """Whether a person may ask for an answer after all: it failed, or it was passed."""
    is_out = message.deleted_at or message.spam_status == SpamStatus.SPAM
    if message.is_ours or message.is_post or is_out:
        return False
    if any(DraftState(draft.state) not in DROPPED for draft in drafts):
        return False
    was_passed = not message.reply_status and message.reply_why.base == "decision.passed"
    return message.reply_status == ReplyStatus.FAILED or was_passed


def _name(actor: str) -> str:
    kind, _colon, rest = actor.partition(":")
    return rest if kind in {"operator", "agent"} and rest else label("actor", kind)
