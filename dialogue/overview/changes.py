"""What people changed of an agent, out of the ledger: by section, and the last one in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialogue.forms.knobs import LABELS, SETTINGS, VOICE
from dialogue.forms.tuned import Tuned
from dialogue.models import Agent
from dialogue.tuning import CHANGED, can_undo, in_words
from dialogue.tuning.values import TUNABLE, is_list
from surfaces.models import AuditEvent
from surfaces.showing import plain

LOOKED_AT = 60  # lines; a section changed before them says nothing
LONGEST = 80  # characters of a value in a sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """One value that became another."""

    label: str
    before: str
    after: str
    unit: str


@dataclass(frozen=True, slots=True)
class Change:
    event: AuditEvent

    @property
    def turned(self) -> list[Turned]:
        return [_turned(name, pair) for name, pair in self.event.facts.items()]

    @property
    def can_undo(self) -> bool:
        return can_undo(self.event)


def _turned(name: str, pair: object) -> Turned:
    before, after = pair if isinstance(pair, list) and len(pair) == 2 else ("", pair)
    knob = LABELS.get(name)
    return Turned(
        label=knob.label if knob else name.capitalize(),
        before=value_words(name, str(before)),
        after=value_words(name, str(after)),
        unit=knob.unit if knob else "",
    )


def value_words(name: str, kept: str) -> str:
    """A value of the ledger for a sentence."""
    if name in TUNABLE and is_list(name) and kept:
        kept = "; ".join(json.loads(kept))
    if kept.isascii() and kept.isdigit():
        return f"{int(kept):,}"
    return plain(kept, LONGEST) or "nothing"


def last_of(agent: Agent) -> list[Change]:
    """Newest first. One query."""
    lines = AuditEvent.objects.about(agent).called(CHANGED).order_by("-id")
    return [Change(line) for line in lines[:LOOKED_AT]]


def by_section(changes: Iterable[Change]) -> dict[str, AuditEvent]:
    """The last change of each section of the forms."""
    found: dict[str, AuditEvent] = {}
    for change in changes:
        for section in (*SETTINGS, *VOICE):
            if any(knob.name in change.event.facts for knob in section.knobs):
                found.setdefault(section.id, change.event)
    return found


def last_that(changes: Iterable[Change], name: str) -> Change | None:
    """The last change that touched this value."""
    return next((change for change in changes if name in change.event.facts), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """A value that somebody changed while a form was open: what it is now, and whose doing."""

    label: str
    anchor: str
    now: str
    unit: str
    event: AuditEvent | None


def moved_words(form: Tuned, moved: Iterable[str], changes: Sequence[Change]) -> list[Moved]:
    found = []
    for row in form.rows():
        if (name := row.knob.name) not in moved:
            continue
        change = last_that(changes, name)
        found.append(
            Moved(
                label=row.knob.label,
                anchor=row.anchor,
                now=value_words(name, in_words(form.values[name])),
                unit=row.knob.unit,
                event=change.event if change else None,
            )
        )
    return found
