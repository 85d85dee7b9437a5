"""What the first floor knows of messages, for the pages of the ground floor: whose turn it was
and why, every waking with what came of it and what it cost.

Registered in the settings (`THREAD_MARGINS`, `TIMELINES`). One query, however many messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import BigIntegerField, DateTimeField, QuerySet, Value
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later
from django.utils.translation import ngettext

from dialogue.models import Activation, Notification
from dialogue.models.activation import State
from dialogue.overview.figures import money
from surfaces.above import Speaker, Told
from surfaces.margin import Note, decided
from surfaces.models import Draft, Message
from surfaces.reach import Reach
from surfaces.showing import span
from surfaces.timeline import Step

# What a waking came to: the words for its try, and how it is marked.
CAME = {
    State.RUNNING: (later("Try %d, being written"), "warn"),
    State.DONE: (later("Try %d, draft written"), "done"),
    State.FAILED: (later("Try %d failed"), "fail"),
    State.EXHAUSTED: (later("Try %d, out of budget"), "warn"),
    State.RELEASED: (later("Try %d given back"), "warn"),
    State.ABANDONED: (later("Try %d, its worker died"), "fail"),
}
# The lead of a stored verdict, and what it says of an agent.
TURNS = {
    "Answers": (later("%s’s turn"), "done"),
    "Waits": (later("%s waits"), "warn"),
    "Held": (later("%s holds back"), "warn"),
    "Passed": (later("%s passes"), "done"),
}
SAID_BELOW = {"answered", "drafted"}  # verdicts that the message and its drafts tell themselves


@dataclass(frozen=True, slots=True)
class Waking:
    pk: int | None
    state: str | None
    why: str | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: str | None
    cost: Decimal | None
    cost_is_guess: bool | None
    draft: int | None


@dataclass(frozen=True, slots=True)
class Turn:
    """A notification; `message` None: no notification, a waking for a post of ours."""

    message: int | None
    slug: str
    name: str
    kind: str
    verdict: str
    why: str
    made_at: datetime | None
    considered_at: datetime | None
    look_at: datetime | None
    read_at: datetime | None
    announced_at: datetime | None


WAKING = [field.name for field in fields(Waking)]
Lives = dict[Turn, list[Waking]]  # turns with their wakings, the oldest first
NEVER = Value(None, output_field=DateTimeField(null=True))


def of_messages(messages: Sequence[Message], drafts: Sequence[Draft], reach: Reach) -> Told:
    """Verdicts and tries beside each message; whose agents they are."""
    lives = _lives(messages, drafts, reach)
    by_pk = {message.pk: message for message in messages}
    of_draft = {draft.pk: draft for draft in drafts}
    notes: dict[int, list[Note]] = {}
    steps: dict[int, list[Step]] = {}
    for turn, wakings in lives.items():
        pk = turn.message or _made(wakings, of_draft)
        if message := by_pk.get(pk or 0):
            notes.setdefault(message.pk, []).extend(_notes(turn, wakings, message))
            steps.setdefault(message.pk, []).extend(_steps(turn, wakings, of_draft))
    for draft in drafts:  # our words begin with what they answer
        if draft.message_id and draft.target_id in steps:
            steps.setdefault(draft.message_id, []).extend(steps[draft.target_id])
    return Told(notes, steps, _speakers(lives))


def steps_of(message: Message | None, drafts: Sequence[Draft], reach: Reach) -> list[Step]:
    """The turns and tries in the life of one message, or of a post that is not sent yet."""
    lives = _lives([message] if message else [], drafts, reach)
    of_draft = {draft.pk: draft for draft in drafts}
    return [step for turn, found in lives.items() for step in _steps(turn, found, of_draft)]


# ── reading ───────────────────────────────────────────────────────────────


def _lives(messages: Sequence[Message], drafts: Iterable[Draft], reach: Reach) -> Lives:
    asked = [message.pk for message in messages if not (message.is_ours or message.is_post)]
    posts = [draft.pk for draft in drafts if draft.target_id is None and draft.agent]
    lives: Lives = {}
    if not (asked or posts):
        return lives
    width = len(fields(Turn))
    for row in sorted(_rows(asked, posts, reach), key=lambda row: row[width] or 0):
        turn, waking = Turn(*row[:width]), Waking(*row[width:])
        found = lives.setdefault(turn, [])
        if waking.pk:
            found.append(waking)
    return lives


def _rows(asked: list[int], posts: list[int], reach: Reach) -> Iterable[tuple[Any, ...]]:
    """Notifications with their wakings, and the wakings that wrote posts, in one query."""
    turns = _within(Notification.objects.filter(message__in=asked), reach)
    heard = turns.values_list(
        "message_id", "agent__slug", "agent__name", "kind", "verdict", "why", "made_at",
        "considered_at", "look_at", "read_at", "announced_at",
        *(f"activations__{name}" for name in WAKING),
    )  # fmt: skip
    laid = _within(Activation.objects.filter(draft__in=posts, notification=None), reach)
    wrote = laid.values_list(
        Value(None, output_field=BigIntegerField()), "agent__slug", "agent__name", "purpose",
        Value(""), "why", *[NEVER] * 5, *WAKING,
    )  # fmt: skip
    if not posts:
        return heard
    return heard.union(wrote, all=True) if asked else wrote


def _within(rows: QuerySet[Any], reach: Reach) -> QuerySet[Any]:
    return reach.narrow(rows, account="", agent="agent__slug").order_by()


def _made(wakings: Iterable[Waking], drafts: Mapping[int, Draft]) -> int | None:
    """The post that came of it."""
    made = (drafts[pk].message_id for pk in (w.draft or 0 for w in wakings) if pk in drafts)
    return next((pk for pk in made if pk), None)


# ── beside a message ──────────────────────────────────────────────────────


def _notes(turn: Turn, wakings: Sequence[Waking], message: Message) -> list[Note]:
    found = []
    if turn.message is None:
        found.append(Note(_("%s’s stone.") % turn.name, turn.why))
    elif turn.why and turn.why != message.reply_why and turn.verdict not in SAID_BELOW:
        lead, why = decided(turn.why)
        found.append(Note(f"{turn.name}: {lead}" if lead else f"{turn.name}.", why))
    if turn.look_at and turn.read_at is None and turn.look_at > timezone.now():
        found.append(Note("", _("%s looks again:") % turn.name, at=turn.look_at))
    if wakings:
        found.append(Note("", _sum(wakings), url=_page(wakings[-1])))
    return found


def _sum(wakings: Sequence[Waking]) -> str:
    """ "3 tries, $0.02"."""
    tries = ngettext("%d try", "%d tries", len(wakings)) % len(wakings)
    cost = sum((waking.cost or Decimal(0) for waking in wakings), Decimal(0))
    return f"{tries}, {money(cost)}" if cost else tries


def _speakers(lives: Lives) -> list[Speaker]:
    by_agent: dict[tuple[str, str], list[list[Waking]]] = {}
    for turn, wakings in lives.items():
        by_agent.setdefault((turn.slug, turn.name), []).append(wakings)
    return [
        Speaker(
            name=name,
            url=reverse("dialogue:agent", args=[slug]),
            words=_sum(all_of_it) if (all_of_it := [w for some in found for w in some]) else "",
        )
        for (slug, name), found in sorted(by_agent.items())
    ]


# ── the life of one ───────────────────────────────────────────────────────


def _steps(turn: Turn, wakings: Sequence[Waking], drafts: Mapping[int, Draft]) -> list[Step]:
    found = [*_heard(turn), *_turned(turn, wakings)]
    for number, waking in enumerate(wakings, 1):
        found.append(_tried(number, turn, waking, drafts))
    if turn.look_at and turn.read_at is None and turn.look_at > timezone.now():
        words = _("%s looks at it again") % turn.name
        found.append(Step(at=turn.look_at, words=words, how="next"))
    return found


def _heard(turn: Turn) -> list[Step]:
    if turn.message is None or turn.made_at is None:
        return []
    words = _("In %s’s inbox") % turn.name
    found = [Step(at=turn.made_at, words=words, how="done", why=turn.kind.replace("_", " "))]
    if turn.announced_at:
        words = _("%s was told, where it lives") % turn.name
        found.append(Step(at=turn.announced_at, words=words, how="done"))
    return found


def _turned(turn: Turn, wakings: Sequence[Waking]) -> list[Step]:
    """When it became the agent's turn, and what was decided last if that came later."""
    found = []
    if wakings and wakings[0].started_at:
        began = wakings[0]
        why = (began.why or "").rpartition("”: ")[2] if turn.message else turn.why
        words = _("%s’s turn") % turn.name if turn.message else _("%s lays a stone") % turn.name
        found.append(Step(at=began.started_at, words=words, how="done", why=why))
    lead, _colon, why = turn.why.partition(": ")
    is_new = not wakings or (turn.considered_at and _last(wakings) < turn.considered_at)
    if turn.considered_at and is_new and lead in TURNS and turn.verdict not in SAID_BELOW:
        said, how = TURNS[lead]
        words = str(said) % turn.name
        found.append(Step(at=turn.considered_at, words=words, how=how, why=why))
    return found


def _last(wakings: Sequence[Waking]) -> datetime:
    return max(waking.started_at for waking in wakings if waking.started_at)


def _tried(number: int, turn: Turn, waking: Waking, drafts: Mapping[int, Draft]) -> Step:
    words, how = CAME[State(waking.state or State.RUNNING)]
    draft = drafts.get(waking.draft or 0)
    is_done = waking.state == State.DONE
    tells = f"draft.composed draft:{waking.draft}" if is_done else f"message.try_failed {waking.pk}"
    return Step(
        at=waking.ended_at or waking.started_at,
        words=str(words) % number,
        how=how,
        actor=f"agent:{turn.slug}",
        why="" if is_done else waking.outcome or "",
        measures=", ".join(_measures(waking, draft)),
        url=_page(waking),
        tells=tells,
    )


def _measures(waking: Waking, draft: Draft | None) -> Iterable[str]:
    """ "412 characters", "$0.01", "4 s"."""
    if draft:
        length = len(draft.text)
        yield ngettext("%d character", "%d characters", length) % length
    if waking.cost:
        cost = money(waking.cost)
        yield _("%s guessed") % cost if waking.cost_is_guess else cost
    if waking.started_at and waking.ended_at:
        yield _took(waking.ended_at - waking.started_at)


def _took(length: timedelta) -> str:
    ms = round(length.total_seconds() * 1000)
    return span(length) if ms >= 1_000 else f"{ms} ms"


def _page(waking: Waking) -> str:
    return reverse("dialogue:activation", args=[waking.pk])
