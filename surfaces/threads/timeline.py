"""Timeline of a message and its drafts, from stored to sent, with every attempt.

Out of the ledger, the rows themselves, and what the floors above add (`Extension.timeline_events`).
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later

from surfaces.accounts.models.account import Account
from surfaces.audit.models import AuditEvent, name_of
from surfaces.drafts.models import Draft, DraftState
from surfaces.extension_points import extensions
from surfaces.messages.models import Message
from surfaces.operators.scope import UNRESTRICTED, Scope
from surfaces.spam import scoring
from surfaces.text.reasons import label
from surfaces.threads.edit_history import Edit, changes_of

MOST = 200  # lines shown; more than any draft can honestly collect
# What the ledger calls it, how we say it, and whether it went well.
SAID = {
    "message.edited": (later("Edited on the surface"), "warn"),
    "message.deleted": (later("Deleted on the surface"), "warn"),
    "message.marked_spam": (later("Marked as spam"), "done"),
    "message.marked_clean": (later("Marked as clean"), "done"),
    "message.unmarked": (later("Spam mark undone"), "done"),
    "message.retried": (later("Attempts reset"), "done"),
    "message.try_failed": (later("Attempt failed"), "fail"),
    "message.gave_up": (later("All attempts failed"), "fail"),
    "draft.composed": (later("Draft written"), "done"),
    "draft.edited": (later("Draft edited"), "done"),
    "draft.approved": (later("Approved"), "done"),
    "draft.withdrawn": (later("Withdrawn"), "done"),
    "draft.expired": (later("Expired: not decided in time"), "warn"),
    "draft.rejected": (later("Rejected"), "done"),
    "draft.sent_back": (later("Sent back with a note"), "done"),
    "draft.went_stale": (later("Draft became stale"), "warn"),
    "draft.lapsed": (later("Approval became stale"), "warn"),
    "draft.later": (later("Sending postponed"), "warn"),
    "draft.sent": (later("Sent"), "done"),
    "draft.failed": (later("Sending failed"), "fail"),
    "draft.retried": (later("Retried"), "done"),
    "draft.unknown": (later("Sent, but the service did not confirm"), "fail"),
    "draft.found_absent": (later("Checked: not on the surface"), "warn"),
    "draft.needs_person": (later("Checked: inconclusive, needs a decision"), "warn"),
    "draft.settled_absent": (later("Marked as not delivered"), "done"),
    "draft.retracted": (later("Deleted from the surface"), "done"),
    "draft.shadowed": (later("Not sent (shadow mode)"), "done"),
}
NEXT = {
    DraftState.COMPOSED: later("Waiting for review"),
    DraftState.WAITING: later("Waiting for review"),
    DraftState.APPROVED: later("Sent"),
    DraftState.SENDING: later("Sending"),
}
FOUND = {
    "spam": later("Ignored as spam"),
    "suspect": later("Held for review as suspect"),
    "": later("No verdict"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineEvent:
    """One line. `at` None: still to come, at a time nobody knows."""

    at: datetime | None
    words: str
    how: str  # done, warn, fail, next
    actor: str = ""
    why: str = ""
    measures: str = ""  # "412 characters, $0.01, 4 s"
    url: str = ""  # where there is more
    changes: list[Edit] = field(default_factory=list)
    # The ledger line it stands for, told better: its action, and what the line names.
    tells: str = ""


Events = Sequence[TimelineEvent]


def of_message(
    message: Message,
    drafts: Iterable[Draft] | None = None,
    *,
    maker: Draft | None = None,
    also: Events | None = None,
    reach: Scope = UNRESTRICTED,
    thresholds: scoring.Thresholds | None = None,
) -> list[TimelineEvent]:
    """From seen to sent; of our own words, from what they answer. `maker` became the message.

    What is not given is asked for: one query each. `also` is what the floors above say.
    """
    if maker is None and message.is_ours:
        made = reach.narrow(Draft.objects.filter(message=message))
        maker = made.select_related("target", "account__surface").first()
    if maker:
        return of_draft(maker, also=also, thresholds=thresholds)
    if drafts is None:
        drafts = reach.narrow(Draft.objects.answering(message)).order_by("id")
    known = list(drafts)
    also = _above(message, known, reach) if also is None else also
    told = _ledger([message, *known], now={name_of(message): {"content": message.content}})
    seen = _seen(message, message.account, thresholds)
    return _in_order(seen, told, also, _to_come(known), [message])


def of_draft(
    draft: Draft, *, also: Events | None = None, thresholds: scoring.Thresholds | None = None
) -> list[TimelineEvent]:
    """The comment's life and the draft's own, without its rivals, each edit with its changes."""
    target = draft.target if draft.target and not draft.target.is_post else None
    made = draft.message if draft.message_id else None
    if also is None:
        # What other agents did for the same comment is not this draft's life.
        its_agent = Scope(agents=frozenset({draft.agent}))
        also = _above(target, [draft], its_agent) if draft.agent else []
    now = {"title": draft.title, "text": draft.text, "community": draft.community}
    given = [row for row in (target, made) if row]
    current = {name_of(row): {"content": row.content} for row in given}
    told = _ledger([*given, draft], now={name_of(draft): now, **current})
    seen = _seen(target, draft.account, thresholds) if target else []
    return _in_order(seen, told, also, _to_come([draft]), given)


def _above(message: Message | None, drafts: Sequence[Draft], reach: Scope) -> list[TimelineEvent]:
    found: list[TimelineEvent] = []
    for extension in extensions():
        for events_of in extension.timeline_events:
            found += events_of(message, drafts, reach)
    return found


def _in_order(
    seen: Events, told: Events, also: Events, to_come: Events, rows: Sequence[Message]
) -> list[TimelineEvent]:
    better = {step.tells for step in also if step.tells}
    past = [step for step in told if step.tells not in better]
    past += [step for step in also if step.how != "next"]
    deleted = {step.tells for step in told}
    for row in rows:
        # Missed in a whole reading of its thread: the ledger has no line for that.
        if row.deleted_at and f"message.deleted {name_of(row)}" not in deleted:
            words = _("No longer on the surface")
            past.append(TimelineEvent(at=row.deleted_at, words=words, how="warn", actor="watcher"))
    past.sort(key=lambda step: step.at or timezone.now())
    return [*seen, *past, *(step for step in also if step.how == "next"), *to_come]


def _seen(
    message: Message, account: Account, thresholds: scoring.Thresholds | None
) -> list[TimelineEvent]:
    place = account.surface.name
    if message.is_ours:
        words = _("Sent by us on %s") % place
        return [TimelineEvent(at=message.created_at, words=words, how="done")]
    written = TimelineEvent(at=message.created_at, words=_("Written on %s") % place, how="done")
    steps = [written, TimelineEvent(at=message.seen_at, words=_("Read by the watcher"), how="done")]
    return steps if message.spam_score is None else [*steps, _judged(message, thresholds)]


def _judged(message: Message, at: scoring.Thresholds | None) -> TimelineEvent:
    """What the filter said; with the house's thresholds at hand, whatever people said later."""
    status, measures = message.spam_status, f"{_('score')} {message.spam_score:.2f}"
    if at:
        signs = {str(reason[0]) for reason in message.spam_reasons if reason}
        status = scoring.status_of(message.spam_score or 0.0, signs, at)
        given = at.spam if status == "spam" else at.suspect
        measured = _("score %(score)s, under %(bound)s")
        if status:
            measured = _("score %(score)s, from %(bound)s")
        measures = measured % {"score": f"{message.spam_score:.2f}", "bound": f"{given:.2f}"}
    words = FOUND.get(status or "", FOUND[""])
    is_bad = status in {"spam", "suspect"}
    return TimelineEvent(
        at=message.seen_at, words=str(words), how="warn" if is_bad else "done",
        why=message.spam_why if is_bad else "",
        measures=measures,
    )  # fmt: skip


def _ledger(
    rows: Iterable[Message | Draft], *, now: Mapping[str, Mapping[str, str]]
) -> list[TimelineEvent]:
    """Every line about these rows. `now`: by subject, the words that edits led to."""
    subjects = [name_of(row) for row in rows]
    events = list(AuditEvent.objects.filter(subject__in=subjects).order_by("id")[:MOST])
    changes = changes_of(events, now, is_whole=len(events) < MOST)
    return [_line(event, changes.get(event.pk, [])) for event in events]


def _line(event: AuditEvent, changes: list[Edit]) -> TimelineEvent:
    plain = label("action", event.action).capitalize()
    words, how = SAID.get(event.action, (plain, "done"))
    named = event.facts.get("activation") or event.subject
    again = ""  # when what was put off is tried
    with suppress(ValueError):
        until = datetime.fromisoformat(str(event.facts.get("until")))
        again = _("next attempt %s") % f"{timezone.localtime(until):%H:%M:%S}"
    return TimelineEvent(
        at=event.at, words=str(words), how=how, actor=event.actor, why=str(event.why),
        measures=again, changes=changes, tells=f"{event.action} {named}",
    )  # fmt: skip


def _to_come(drafts: Iterable[Draft]) -> list[TimelineEvent]:
    steps = []
    for draft in drafts:
        if coming := NEXT.get(DraftState(draft.state)):
            at = draft.not_before if draft.state == DraftState.APPROVED else None
            steps.append(TimelineEvent(at=_ahead(at), words=str(coming), how="next"))
            if draft.state == DraftState.WAITING and draft.expires_at:
                lapses = _("Expires unless an operator decides")
                steps.append(TimelineEvent(at=draft.expires_at, words=lapses, how="next"))
        elif draft.state == DraftState.UNKNOWN:
            words, at = _("Delivery is being checked"), _ahead(draft.look_at)
            if draft.needs_person:
                words, at = _("An operator has to check whether it was sent"), None
            steps.append(TimelineEvent(at=at, words=words, how="next"))
    return steps


def _ahead(moment: datetime | None) -> datetime | None:
    return moment if moment and moment > timezone.now() else None
