"""Tell what happened to a message and its drafts, from seen to sent, with every try.

Out of the ledger, the rows themselves, and what the floors above add (`TIMELINES`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later

from surfaces import spam
from surfaces.edits import Change, changes_of
from surfaces.models import Account, AuditEvent, Draft, Message
from surfaces.models.audit import name_of
from surfaces.models.draft import State
from surfaces.reach import WHOLE, Reach

MOST = 200  # lines shown; more than any draft can honestly collect
# What the ledger calls it, how we say it, and whether it went well.
SAID = {
    "message.edited": (later("Edited at the source"), "warn"),
    "message.deleted": (later("Deleted at the source"), "warn"),
    "message.marked_spam": (later("Marked as spam"), "done"),
    "message.marked_clean": (later("Marked as clean"), "done"),
    "message.unmarked": (later("Mark taken back"), "done"),
    "message.retried": (later("Given ten fresh tries"), "done"),
    "message.try_failed": (later("A try failed"), "fail"),
    "message.gave_up": (later("Given up"), "fail"),
    "draft.composed": (later("Draft written"), "done"),
    "draft.edited": (later("Draft edited"), "done"),
    "draft.approved": (later("Approved"), "done"),
    "draft.withdrawn": (later("Withdrawn"), "done"),
    "draft.expired": (later("Withdrawn: nobody decided in time"), "warn"),
    "draft.rejected": (later("Rejected"), "done"),
    "draft.sent_back": (later("Sent back with a note"), "done"),
    "draft.went_stale": (later("Changed around it"), "warn"),
    "draft.lapsed": (later("Approval lapsed"), "warn"),
    "draft.later": (later("Sending put off"), "warn"),
    "draft.sent": (later("Sent"), "done"),
    "draft.failed": (later("Sending failed"), "fail"),
    "draft.retried": (later("Retried"), "done"),
    "draft.unknown": (later("Sent, but nobody answered"), "fail"),
    "draft.found_absent": (later("Looked: it is not there"), "warn"),
    "draft.needs_person": (later("Looked: cannot tell, needs a person"), "warn"),
    "draft.settled_absent": (later("A person says: not there"), "done"),
    "draft.retracted": (later("Taken back at the service"), "done"),
    "draft.shadowed": (later("Kept in the shadow, not sent"), "done"),
}
NEXT = {
    State.COMPOSED: later("Waits for a person"),
    State.WAITING: later("Waits for a person"),
    State.APPROVED: later("Sent"),
    State.SENDING: later("On its way"),
}
FOUND = {"spam": later("Left as spam"), "suspect": later("Held as suspect"), "": later("Clean")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One line. `at` None: still to come, at a time nobody knows."""

    at: datetime | None
    words: str
    how: str  # done, warn, fail, next
    actor: str = ""
    why: str = ""
    measures: str = ""  # "412 characters, $0.01, 4 s"
    url: str = ""  # where there is more
    changes: list[Change] = field(default_factory=list)
    # The ledger line it stands for, told better: its action, and what the line names.
    tells: str = ""


Steps = Callable[[Message | None, Sequence[Draft], Reach], Sequence[Step]]


def of_message(
    message: Message,
    drafts: Iterable[Draft] | None = None,
    *,
    maker: Draft | None = None,
    also: Sequence[Step] | None = None,
    reach: Reach = WHOLE,
    thresholds: spam.Thresholds | None = None,
) -> list[Step]:
    """From seen to sent; of our own words, from what they answer.

    `maker` became the message. What is not given is asked for: one query each. `also` is what
    the floors above say.
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
    draft: Draft,
    *,
    also: Sequence[Step] | None = None,
    thresholds: spam.Thresholds | None = None,
) -> list[Step]:
    """The comment's life and the draft's own, without its rivals, each edit with what it changed.

    Two queries, one for the ledger and one for the floors above.
    """
    target = draft.target if draft.target and not draft.target.is_post else None
    made = draft.message if draft.message_id else None
    if also is None:
        also = _above(target, [draft], _of_its_agent(draft)) if draft.agent else []
    now = {"title": draft.title, "text": draft.text, "community": draft.community}
    given = [row for row in (target, made) if row]
    current = {name_of(row): {"content": row.content} for row in given}
    told = _ledger([*given, draft], now={name_of(draft): now, **current})
    seen = _seen(target, draft.account, thresholds) if target else []
    return _in_order(seen, told, also, _to_come([draft]), given)


def _of_its_agent(draft: Draft) -> Reach:
    """What other agents did for the same comment is not this draft's life."""
    return Reach(agents=frozenset({draft.agent}))


def _above(message: Message | None, drafts: Sequence[Draft], reach: Reach) -> list[Step]:
    """What the floors above know of it."""
    found: list[Step] = []
    for name in settings.TIMELINES:
        steps: Steps = import_string(name)
        found += steps(message, drafts, reach)
    return found


def _in_order(
    seen: list[Step],
    told: list[Step],
    also: Sequence[Step],
    to_come: list[Step],
    rows: Sequence[Message],
) -> list[Step]:
    """One life out of all; where two tell the same, the floor above tells it better."""
    better = {step.tells for step in also if step.tells}
    past = [step for step in told if step.tells not in better]
    past += [step for step in also if step.how != "next"]
    past += [_gone(row, row.deleted_at) for row in rows if row.deleted_at and not _has(told, row)]
    past.sort(key=lambda step: step.at or timezone.now())
    return [*seen, *past, *(step for step in also if step.how == "next"), *to_come]


def _has(told: Iterable[Step], row: Message) -> bool:
    return any(step.tells == f"message.deleted {name_of(row)}" for step in told)


def _gone(row: Message, at: datetime) -> Step:
    """Missed in a whole reading of its thread: the ledger has no line for that."""
    return Step(at=at, words=_("Not there any more"), how="warn", actor="watcher")


def _seen(message: Message, account: Account, thresholds: spam.Thresholds | None) -> list[Step]:
    place = account.surface.name
    if message.is_ours:
        return [Step(at=message.created_at, words=_("Ours, on %s") % place, how="done")]
    written = Step(at=message.created_at, words=_("Written on %s") % place, how="done")
    steps = [written, Step(at=message.seen_at, words=_("Seen by us"), how="done")]
    return steps if message.spam_score is None else [*steps, _judged(message, thresholds)]


def _judged(message: Message, at: spam.Thresholds | None) -> Step:
    """What the filter said; with the house's thresholds at hand, whatever people said later."""
    status, bound = message.spam_status, ""
    if at:
        signs = {str(reason[0]) for reason in message.spam_reasons if reason}
        status = spam.status_of(message.spam_score or 0.0, signs, at)
        given = at.spam if status == "spam" else at.suspect
        bound = f", {_('from') if status else _('under')} {given:.2f}"
    words = FOUND.get(status or "", FOUND[""])
    is_bad = status in {"spam", "suspect"}
    return Step(
        at=message.seen_at,
        words=str(words),
        how="warn" if is_bad else "done",
        why=_reasons(message) if is_bad else "",
        measures=f"{_('score')} {message.spam_score:.2f}{bound}",
    )


def _reasons(message: Message) -> str:
    return "; ".join(str(reason[-1]).rstrip(".") for reason in message.spam_reasons if reason)


def _ledger(rows: Iterable[Message | Draft], *, now: Mapping[str, Mapping[str, str]]) -> list[Step]:
    """Every line about these rows. `now`: by subject, the words that edits led to."""
    subjects = [name_of(row) for row in rows]
    events = list(AuditEvent.objects.filter(subject__in=subjects).order_by("id")[:MOST])
    changes = changes_of(events, now, is_whole=len(events) < MOST)
    return [_line(event, changes.get(event.pk, [])) for event in events]


def _line(event: AuditEvent, changes: list[Change]) -> Step:
    plain = event.action.partition(".")[2].replace("_", " ").capitalize()
    words, how = SAID.get(event.action, (plain, "done"))
    named = event.facts.get("activation") or event.subject
    return Step(
        at=event.at,
        words=str(words),
        how=how,
        actor=event.actor,
        why=event.why,
        measures=_again(event),
        changes=changes,
        tells=f"{event.action} {named}",
    )


def _again(event: AuditEvent) -> str:
    """When what was put off is tried again."""
    try:
        until = datetime.fromisoformat(str(event.facts.get("until")))
    except ValueError:
        return ""
    return _("next try %s") % f"{timezone.localtime(until):%H:%M:%S}"


def _to_come(drafts: Iterable[Draft]) -> list[Step]:
    steps = []
    for draft in drafts:
        if coming := NEXT.get(State(draft.state)):
            at = draft.not_before if draft.state == State.APPROVED else None
            steps.append(Step(at=_ahead(at), words=str(coming), how="next"))
            if draft.state == State.WAITING and draft.expires_at:
                lapses = _("Withdrawn by itself, unless somebody decides")
                steps.append(Step(at=draft.expires_at, words=lapses, how="next"))
        elif draft.state == State.UNKNOWN:
            words = _("A person looks for it") if draft.needs_person else _("We look for it")
            at = None if draft.needs_person else _ahead(draft.look_at)
            steps.append(Step(at=at, words=words, how="next"))
    return steps


def _ahead(moment: datetime | None) -> datetime | None:
    return moment if moment and moment > timezone.now() else None
