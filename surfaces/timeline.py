"""Tell what happened to a message and its drafts, from seen to sent, out of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from surfaces import differing, spam
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.models.audit import name_of
from surfaces.models.draft import State

MOST = 200  # lines shown; more than any draft can honestly collect
MOST_COMPARED = 10  # edits whose changes are shown, the newest
# What the ledger calls it, how we say it, and whether it went well.
SAID = {
    "message.edited": ("Edited at the source", "warn"),
    "message.deleted": ("Deleted at the source", "warn"),
    "message.marked_spam": ("Marked as spam", "done"),
    "message.marked_clean": ("Marked as clean", "done"),
    "message.unmarked": ("Mark taken back", "done"),
    "message.retried": ("Given ten fresh tries", "done"),
    "message.try_failed": ("A try failed", "fail"),
    "message.gave_up": ("Given up", "fail"),
    "draft.composed": ("Draft written", "done"),
    "draft.edited": ("Draft edited", "done"),
    "draft.approved": ("Approved", "done"),
    "draft.withdrawn": ("Withdrawn", "done"),
    "draft.rejected": ("Rejected", "done"),
    "draft.sent_back": ("Sent back with a note", "done"),
    "draft.went_stale": ("Changed around it", "warn"),
    "draft.lapsed": ("Approval lapsed", "warn"),
    "draft.later": ("Put off", "warn"),
    "draft.sent": ("Sent", "done"),
    "draft.failed": ("Failed", "fail"),
    "draft.retried": ("Retried", "done"),
    "draft.unknown": ("Sent, but nobody answered", "fail"),
    "draft.found_absent": ("Looked: it is not there", "warn"),
    "draft.needs_person": ("Needs a person", "warn"),
    "draft.settled_absent": ("A person says: not there", "done"),
    "draft.retracted": ("Taken back at the service", "done"),
    "draft.shadowed": ("Kept in the shadow, not sent", "done"),
}
NEXT = {
    State.COMPOSED: "Waits for a person",
    State.WAITING: "Waits for a person",
    State.APPROVED: "Sent",
    State.SENDING: "On its way",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What an edit did to one field."""

    label: str
    pieces: list[differing.Piece]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One line. `at` None: still to come."""

    at: datetime | None
    words: str
    how: str  # done, warn, fail, next
    actor: str = ""
    why: str = ""
    changes: list[Change] = field(default_factory=list)


def of_message(message: Message, drafts: Iterable[Draft]) -> list[Step]:
    """From seen to sent. One query."""
    drafts = list(drafts)
    return [*_seen(message, message.account), *_ledger([message, *drafts]), *_to_come(drafts)]


def of_draft(draft: Draft) -> list[Step]:
    """The comment's life and the draft's own, without its rivals, each edit with what it changed.

    One query.
    """
    target = draft.target
    seen = _seen(target, draft.account) if target and not target.is_post else []
    rows: list[Message | Draft] = [target, draft] if target and not target.is_post else [draft]
    return [*seen, *_ledger(rows, edited=draft), *_to_come([draft])]


def _seen(message: Message, account: Account) -> list[Step]:
    place = account.surface.name
    if message.is_ours:
        return [Step(at=message.created_at, words=f"Ours, on {place}", how="done")]
    steps = [Step(at=message.created_at, words=f"Written on {place}", how="done")]
    steps.append(Step(at=message.seen_at, words="Seen by us", how="done"))
    return steps if message.spam_score is None else [*steps, _judged(message)]


def _judged(message: Message) -> Step:
    """What the filter said when it first read it, whatever people said later."""
    score, at = message.spam_score or 0.0, spam.Thresholds()
    if score >= at.spam:
        words, bound = "Left as spam", f"from {at.spam:.2f}"
    elif score >= at.suspect:
        words, bound = "Held as suspect", f"from {at.suspect:.2f}"
    else:
        words, bound = "Clean", f"under {at.suspect:.2f}"
    how = "done" if score < at.suspect else "warn"
    return Step(at=message.seen_at, words=words, how=how, why=f"score {score:.2f}, {bound}")


def _ledger(rows: Iterable[Message | Draft], edited: Draft | None = None) -> list[Step]:
    subjects = [name_of(row) for row in rows]
    events = list(AuditEvent.objects.filter(subject__in=subjects).order_by("id")[:MOST])
    changes = _changes(events, edited) if edited else {}
    steps = []
    for event in events:
        plain = event.action.partition(".")[2].replace("_", " ").capitalize()
        words, how = SAID.get(event.action, (plain, "done"))
        steps.append(
            Step(
                at=event.at,
                words=words,
                how=how,
                actor=event.actor,
                why=event.why,
                changes=changes.get(event.pk, []),
            )
        )
    return steps


def _changes(events: Sequence[AuditEvent], draft: Draft) -> dict[int, list[Change]]:
    """By ledger line, what each edit changed: its words before against what came after."""
    edits = [event for event in events if event.action == "draft.edited"][-MOST_COMPARED:]
    before = [event.facts.get("before") or {} for event in edits]
    now = {"title": draft.title, "text": draft.text, "community": draft.community}
    is_whole = len(events) < MOST  # else later edits may be missing
    after = [*before[1:], *([now] if is_whole else [])]
    return {
        event.pk: _between(old, new) for event, old, new in zip(edits, before, after, strict=False)
    }


def _between(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    found = []
    for name in ("title", "community", "text"):
        pieces = differing.changes(before.get(name) or "", after.get(name) or "")
        if pieces:
            found.append(Change(label=name.capitalize(), pieces=differing.shortened(pieces)))
    return found


def _to_come(drafts: Iterable[Draft]) -> list[Step]:
    steps = []
    for draft in drafts:
        if words := NEXT.get(State(draft.state)):
            steps.append(Step(at=None, words=words, how="next"))
        elif draft.state == State.UNKNOWN:
            words = "A person looks for it" if draft.needs_person else "We look for it"
            steps.append(Step(at=None, words=words, how="next"))
    return steps
