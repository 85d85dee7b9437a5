"""What people changed of an agent, out of the ledger: by section, and the last ones in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dialogue import presences
from dialogue.forms import MODES
from dialogue.forms.knobs import HOUSE, LABELS, PRESENCE, SETTINGS, VOICE
from dialogue.models import Agent, Presence
from dialogue.tuning import CHANGED, can_undo, in_words
from dialogue.tuning.house import CHANGED as BUDGET_CHANGED
from dialogue.tuning.house import SUBJECT
from dialogue.tuning.values import TUNABLE, column, is_list
from surfaces.history import Change, History, Teller, kept_words, lines_about
from surfaces.knobs import Words
from surfaces.models import AuditEvent
from surfaces.models.audit import name_of
from surfaces.tuned import Tuned


def value_words(name: str, kept: str) -> str:
    """A value of the ledger for a sentence."""
    if name in TUNABLE and is_list(name) and kept:
        kept = "; ".join(json.loads(kept))
    if name in TUNABLE and column(name).get_internal_type() == "BooleanField":
        return kept_words(kept == "yes")
    return kept_words(str(kept))


def last_of(agent: Agent, values: Mapping[str, Any] | None = None) -> History:
    """Newest first; with its values as they are, it knows what moved since. One query."""
    is_now = {name: in_words(value) for name, value in (values or {}).items()}
    teller = Teller(knobs=LABELS, words=value_words, may_undo=can_undo, is_now=is_now)
    return History(lines_about(name_of(agent), CHANGED), teller)


def by_section(history: History) -> dict[str, AuditEvent]:
    """The last change of each section of the forms."""
    return history.by_section((*SETTINGS, *VOICE))


def last_that(history: History, name: str) -> Change | None:
    """The last change that touched this value."""
    return next((change for change in history.changes if name in change.facts), None)


# ── the budget of all, and where an agent speaks ──────────────────────────


def of_budget(values: Mapping[str, Any]) -> History:
    """What was changed of the budget of all agents. One query."""
    knobs = {knob.name: knob for section in HOUSE for knob in section.knobs}
    is_now = {name: in_words(value) for name, value in values.items()}
    return History(lines_about(SUBJECT, BUDGET_CHANGED), Teller(knobs=knobs, is_now=is_now))


def of_presence(presence: Presence) -> History:
    """What was changed of how an agent speaks through an account. One query."""
    knobs = {knob.name: knob for section in PRESENCE for knob in section.knobs}
    teller = Teller(
        knobs=knobs,
        words=_presence_words,
        facts=lambda event: event.facts.get("changed") or {},
        may_undo=lambda event: presences.can_undo(event, presence),
        is_now=presences.kept_values(presence),
    )
    lines = lines_about(name_of(presence.account), presences.CHANGED)
    mine = [line for line in lines if line.facts.get("agent") == presence.agent.slug]
    return History(mine, teller)


def _presence_words(name: str, kept: str) -> str:
    if name == "explore_share":
        return f"{float(kept) * 100:g}"
    if name == "mode":
        return str(dict(MODES).get(kept, kept))
    return kept_words(kept)


# ── what moved while a form was open ──────────────────────────────────────


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """A value that somebody changed while a form was open: what it is now, and whose doing."""

    label: Words
    anchor: str
    now: str
    unit: Words
    event: AuditEvent | None


def moved_words(form: Tuned, moved: Iterable[str], history: History | None) -> list[Moved]:
    found = []
    for row in form.rows():
        if (name := row.knob.name) not in moved:
            continue
        change = last_that(history, name) if history else None
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
