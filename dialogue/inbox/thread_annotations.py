"""Annotate messages and timelines with decisions and activations of agents.

Added by `dialogue.extensions`. One query, however many messages.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    DateTimeField,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later
from django.utils.translation import ngettext

from dialogue.activations.models import Activation, ActivationState, ItemState, TranscriptStep
from dialogue.activations.transcript import took
from dialogue.budgets.meters import money
from dialogue.inbox import suspensions
from dialogue.inbox.models import Notification, NotificationQuerySet
from surfaces.models import Draft, Message
from surfaces.operators.scope import Scope
from surfaces.text.reasons import FORMATS, StoredReason, label, render
from surfaces.threads.extensions import Speaker, ThreadAnnotations
from surfaces.threads.notes import Note, decided
from surfaces.threads.timeline import TimelineEvent

# Label and style of an attempt: by the state of its item, or of the activation that left it.
CAME: dict[str, tuple[Any, str]] = {
    ItemState.WORKING: (later("Attempt %d, running"), "warn"),
    ItemState.WAITING: (later("Attempt %d waits for approval"), "warn"),
    ItemState.DRAFTED: (later("Attempt %d, draft written"), "done"),
    ItemState.NOTHING: (later("Attempt %d, nothing to say"), "done"),
    ItemState.DECIDED: (later("Attempt %d ended without a reply"), "warn"),
    ItemState.FAILED: (later("Attempt %d failed"), "fail"),
    ItemState.RELEASED: (later("Attempt %d interrupted"), "warn"),
    ActivationState.EXHAUSTED: (later("Attempt %d, out of budget"), "warn"),
    ActivationState.ABANDONED: (later("Attempt %d, worker lost"), "fail"),
}
# Label and style of a decision by the first word of the stored reason.
TURNS = {
    "decision.answers": (later("%s replies"), "done"),
    "decision.waits": (later("%s waits"), "warn"),
    "decision.held": (later("%s: on hold"), "warn"),
    "decision.passed": (later("%s: passed"), "done"),
}
SAID_BELOW = {"answered", "drafted"}  # decisions that the message and its drafts show already


@dataclass(frozen=True, slots=True)
class ThreadActivation:
    pk: int | None
    state: str | None
    why: StoredReason | None = field(hash=False)
    started_at: datetime | None
    ended_at: datetime | None
    outcome: StoredReason | None = field(hash=False)
    cost: Decimal | None
    cost_is_guess: bool | None
    draft: int | None


@dataclass(frozen=True, slots=True)
class ThreadNotification:
    """A notification; `message` None: an activation for a post of ours."""

    pk: int | None
    message: int | None
    slug: str
    name: str
    kind: str
    verdict: str
    why: StoredReason = field(hash=False)
    made_at: datetime | None
    considered_at: datetime | None
    look_at: datetime | None
    read_at: datetime | None
    announced_at: datetime | None


# Where each of them is found: of a notification in its begun items, of a post in its activation.
BEGUN = (
    "begun__activation", "came", "begun__activation__why", "begun__started_at", "begun__ended_at",
    "begun__why", "spent", "begun__activation__cost_is_guess", "begun__draft",
)  # fmt: skip
LAID = ("pk", "came", "why", "started_at", "ended_at", "outcome", "cost", "cost_is_guess", "draft")
# Notifications with their activations, oldest first.
Lives = dict[ThreadNotification, list[ThreadActivation]]
NEVER = Value(None, output_field=DateTimeField(null=True))


def of_messages(
    messages: Sequence[Message], drafts: Sequence[Draft], reach: Scope
) -> ThreadAnnotations:
    """Notes and timeline events per message, and the agents of the thread."""
    lives = _lives(messages, drafts, reach)
    by_pk = {message.pk: message for message in messages}
    of_draft = {draft.pk: draft for draft in drafts}
    notes: dict[int, list[Note]] = {}
    steps: dict[int, list[TimelineEvent]] = {}
    for turn, wakings in lives.items():
        made = (of_draft[it.draft].message_id for it in wakings if it.draft in of_draft)
        pk = turn.message or next(filter(None, made), None)  # or the post that was written
        if message := by_pk.get(pk or 0):
            notes.setdefault(message.pk, []).extend(_notes(turn, wakings, message))
            steps.setdefault(message.pk, []).extend(_steps(turn, wakings, of_draft))
    for draft in drafts:  # the timeline of a reply begins with that of its comment
        if draft.message_id and draft.target_id in steps:
            steps.setdefault(draft.message_id, []).extend(steps[draft.target_id])
    return ThreadAnnotations(notes, steps, _speakers(lives))


def timeline_events(
    message: Message | None, drafts: Sequence[Draft], reach: Scope
) -> list[TimelineEvent]:
    """Timeline events of one message, or of a post that is not sent yet."""
    lives = _lives([message] if message else [], drafts, reach)
    of_draft = {draft.pk: draft for draft in drafts}
    return [step for turn, found in lives.items() for step in _steps(turn, found, of_draft)]


def _lives(messages: Sequence[Message], drafts: Iterable[Draft], reach: Scope) -> Lives:
    asked = [message.pk for message in messages if not (message.is_ours or message.is_post)]
    posts = [draft.pk for draft in drafts if draft.target_id is None and draft.agent]
    lives: Lives = {}
    if not (asked or posts):
        return lives
    width = len(fields(ThreadNotification))
    for row in sorted(_rows(asked, posts, reach), key=lambda row: row[width] or 0):
        turn, waking = ThreadNotification(*row[:width]), ThreadActivation(*row[width:])
        found = lives.setdefault(turn, [])
        if waking.pk:
            found.append(waking)
    return _as_held(lives)


def _as_held(lives: Lives) -> Lives:
    """With what holds those that wait for approval now. No query where none does."""
    held = suspensions.holds(
        [turn.pk for turn in lives
         if turn.pk and turn.read_at is None and turn.verdict == suspensions.SUSPENDED],
        now=timezone.now(),
    )  # fmt: skip
    if not held:
        return lives
    return {replace(turn, why=held.get(turn.pk or 0, turn.why)): found
            for turn, found in lives.items()}  # fmt: skip


def _rows(asked: list[int], posts: list[int], reach: Scope) -> Iterable[tuple[Any, ...]]:
    """Notifications with their activations, and activations for posts, in one query."""
    turns = _within(_with_attempts(Notification.objects.filter(message__in=asked)), reach)
    heard = turns.values_list(
        "pk", "message_id", "agent__slug", "agent__name", "kind", "verdict", "why", "made_at",
        "considered_at", "look_at", "read_at", "announced_at", *BEGUN,
    )  # fmt: skip
    laid = _within(Activation.objects.filter(draft__in=posts, notification=None), reach)
    laid = laid.annotate(came=Value(ItemState.DRAFTED.value))
    nothing = Value(None, output_field=BigIntegerField())
    wrote = laid.values_list(
        nothing, nothing, "agent__slug", "agent__name", "purpose",
        Value(""), "why", *[NEVER] * 5, *LAID,
    )  # fmt: skip
    if not posts:
        return heard
    return heard.union(wrote, all=True) if asked else wrote


def _with_attempts(turns: NotificationQuerySet) -> NotificationQuerySet:
    """With the items that were begun, and what each of them cost."""
    # What an activation did for no item counts for its first.
    whose = Q(item=OuterRef("begun")) | Q(item=None, activation__items=OuterRef("begun"),
                                          activation__items__position=1)  # fmt: skip
    steps = TranscriptStep.objects.filter(whose).order_by().values("activation")
    left = Q(begun__state=ItemState.RELEASED) & ~Q(
        begun__activation__state__in=[ActivationState.DONE, ActivationState.WAITING,
                                      ActivationState.RUNNING, ActivationState.FAILED]
    )  # fmt: skip
    return turns.annotate(
        begun=FilteredRelation("items", condition=Q(items__started_at__isnull=False)),
        spent=Subquery(steps.annotate(spent=Sum("cost")).values("spent")),
        came=Case(When(left, then=F("begun__activation__state")), default=F("begun__state")),
    )


def _within(rows: QuerySet[Any], reach: Scope) -> QuerySet[Any]:
    return reach.narrow(rows, account="", agent="agent__slug").order_by()


def _notes(
    turn: ThreadNotification, wakings: Sequence[ThreadActivation], message: Message
) -> list[Note]:
    found = []
    if turn.message is None:
        found.append(Note(_("Stone by %s.") % turn.name, str(turn.why)))
    elif turn.why and turn.why != message.reply_why and turn.verdict not in SAID_BELOW:
        lead, why = decided(turn.why)
        found.append(Note(f"{turn.name}: {lead}" if lead else f"{turn.name}.", why))
    if turn.look_at and turn.read_at is None and turn.look_at > timezone.now():
        found.append(Note("", _("%s checks again:") % turn.name, at=turn.look_at))
    if wakings:
        found.append(Note("", _sum(wakings), url=_page(wakings[-1])))
    return found


def _sum(wakings: Sequence[ThreadActivation]) -> str:
    """ "3 attempts, $0.02"."""
    tries = ngettext("%d attempt", "%d attempts", len(wakings)) % len(wakings)
    cost = sum((waking.cost or Decimal(0) for waking in wakings), Decimal(0))
    return FORMATS["list"]([tries, money(cost)]) if cost else tries


def _speakers(lives: Lives) -> list[Speaker]:
    by_agent: dict[tuple[str, str], list[ThreadActivation]] = {}
    for turn, wakings in lives.items():
        by_agent.setdefault((turn.slug, turn.name), []).extend(wakings)
    return [
        Speaker(
            name=name,
            url=reverse("dialogue:agent", args=[slug]),
            words=_sum(found) if found else "",
        )
        for (slug, name), found in sorted(by_agent.items())
    ]


def _steps(
    turn: ThreadNotification, wakings: Sequence[ThreadActivation], drafts: Mapping[int, Draft]
) -> list[TimelineEvent]:
    found = [*_heard(turn), *_turned(turn, wakings)]
    found += [_tried(number, turn, waking, drafts) for number, waking in enumerate(wakings, 1)]
    if turn.look_at and turn.read_at is None and turn.look_at > timezone.now():
        words = _("%s checks it again") % turn.name
        found.append(TimelineEvent(at=turn.look_at, words=words, how="next"))
    return found


def _heard(turn: ThreadNotification) -> list[TimelineEvent]:
    if turn.message is None or turn.made_at is None:
        return []
    words = _("In %s’s inbox") % turn.name
    found = [TimelineEvent(at=turn.made_at, words=words, how="done", why=label("word", turn.kind))]
    if turn.announced_at:
        words = _("Sent to %s by webhook") % turn.name
        found.append(TimelineEvent(at=turn.announced_at, words=words, how="done"))
    return found


def _turned(turn: ThreadNotification, wakings: Sequence[ThreadActivation]) -> list[TimelineEvent]:
    """The start of the first activation, and the last decision if it came later."""
    found = []
    if wakings and wakings[0].started_at:
        began = wakings[0]
        why = render(began.why.get("why")) if turn.message and began.why else str(turn.why)
        words = _("%s replies") % turn.name if turn.message else _("%s writes a post") % turn.name
        found.append(TimelineEvent(at=began.started_at, words=words, how="done", why=why))
    last = max((waking.started_at for waking in wakings if waking.started_at), default=None)
    is_new = last is None or (turn.considered_at and last < turn.considered_at)
    if turn.considered_at and is_new and turn.why.base in TURNS and turn.verdict not in SAID_BELOW:
        said, how = TURNS[turn.why.base]
        words, why = str(said) % turn.name, decided(turn.why)[1]
        found.append(TimelineEvent(at=turn.considered_at, words=words, how=how, why=why))
    return found


def _tried(
    number: int, turn: ThreadNotification, waking: ThreadActivation, drafts: Mapping[int, Draft]
) -> TimelineEvent:
    words, how = CAME[waking.state or ItemState.WORKING]
    draft = drafts.get(waking.draft or 0)
    is_done = waking.state == ItemState.DRAFTED
    tells = f"draft.composed draft:{waking.draft}" if is_done else f"message.try_failed {waking.pk}"
    return TimelineEvent(
        at=waking.ended_at or waking.started_at, words=str(words) % number, how=how,
        actor=f"agent:{turn.slug}", why="" if is_done else str(waking.outcome or ""),
        measures=", ".join(_measures(waking, draft)), url=_page(waking), tells=tells,
    )  # fmt: skip


def _measures(waking: ThreadActivation, draft: Draft | None) -> Iterable[str]:
    """ "412 characters", "$0.01", "4 s"."""
    if draft:
        length = len(draft.text)
        yield ngettext("%d character", "%d characters", length) % length
    if waking.cost:
        cost = money(waking.cost)
        yield _("%s (estimated)") % cost if waking.cost_is_guess else cost
    if waking.started_at and waking.ended_at:
        yield took(waking.ended_at - waking.started_at)


def _page(waking: ThreadActivation) -> str:
    return reverse("dialogue:activation", args=[waking.pk])
