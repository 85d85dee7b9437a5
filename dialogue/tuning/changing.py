"""Change an agent, under lock, and take a change back.

What a person saw is compared with what is: nobody is overwritten unseen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from dialogue import presences
from dialogue.models import Agent, AgentSettings, Kernel
from dialogue.tuning.values import (
    CHANGED,
    KERNELS,
    OF_AGENT,
    OF_SETTINGS,
    TUNABLE,
    Changed,
    Values,
    check_seen,
    cleaned,
    column,
    from_words,
    in_words,
    only,
    values_of,
)
from surfaces.changes import is_change, set_back
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent


def change_settings(
    agent: Agent,
    values: Values,
    *,
    by: str,
    now: datetime,
    why: str = "",
    seen: Values | None = None,
) -> Changed:
    """Change how it behaves and what it may cost."""
    only(values, OF_SETTINGS)
    return change_agent(agent, values, by=by, now=now, why=why, seen=seen)


@transaction.atomic
def change_agent(
    agent: Agent,
    values: Values,
    *,
    by: str,
    now: datetime,
    why: str = "",
    seen: Values | None = None,
) -> Changed:
    """Change anything of it: who it is, its hours, its kernels, its settings. One line for all."""
    row = _locked(agent.pk)
    before = values_of(row)
    check_seen(before, seen)
    wanted = {name: cleaned(name, value) for name, value in only(values, TUNABLE).items()}
    new = {name: value for name, value in wanted.items() if not _same(before[name], value)}
    _check_together(row, new)
    _write(row, new, now=now)
    agent.refresh_from_db()  # and with it what it remembers of its settings
    after = values_of(agent)
    changed = {name: [in_words(before[name]), in_words(after[name])] for name in new}
    if changed:
        facts: dict[str, Any] = {**changed}
        AuditEvent.objects.record(CHANGED, actor=by, subject=agent, why=why, **facts)
    if "mode" in changed:
        presences.obey(agent)
    return changed


def _locked(pk: int) -> Agent:
    """The row as it is. Its settings and kernels change under this lock, so read them after it."""
    return Agent.objects.select_for_update().get(pk=pk)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return sorted(one) == sorted(other)
    return bool(one == other)


def _check_together(row: Agent, new: Values) -> None:
    """Rules between two values, as the database has them."""
    for name, value in new.items():
        if name != KERNELS:
            setattr(row if name in OF_AGENT else row.settings, name, value)
    try:
        row.settings.validate_constraints(exclude={"agent"})
        row.validate_constraints()
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error


def _write(row: Agent, new: Values, *, now: datetime) -> None:
    of_agent = {name: new[name] for name in OF_AGENT if name in new}
    of_settings = {name: new[name] for name in OF_SETTINGS if name in new}
    if of_agent:
        Agent.objects.filter(pk=row.pk).update(**of_agent)
    if of_settings:
        AgentSettings.objects.filter(agent=row).update(**of_settings)
    if KERNELS in new:
        Kernel.keep(row, new[KERNELS], now=now)


# ── taking back ───────────────────────────────────────────────────────────


def can_undo(event: AuditEvent) -> bool:
    """Whether all that this line tells of can be set back. Models come back only by hand."""
    return event.action == CHANGED and is_change(event.facts, TUNABLE)


@transaction.atomic
def undo(event: AuditEvent, *, by: str, now: datetime) -> Changed:
    """Set back what one change did, unless it was changed again since."""
    if not can_undo(event):
        raise NotAllowed("This change cannot be taken back here. Set the values by hand.")
    agent = _locked(Agent.objects.only("pk").get(slug=event.subject.partition(":")[2]).pk)
    is_now = {name: in_words(value) for name, value in values_of(agent).items()}
    kept = set_back(event.facts, is_now, label=lambda name: str(column(name).verbose_name))
    before = {name: from_words(name, was) for name, was in kept.items()}
    return change_agent(agent, before, by=by, now=now, why=f"Takes back line {event.pk}.")


@transaction.atomic
def clear_back_off(agent: Agent, *, by: str) -> None:
    """Take a person's word that what made it fail is over."""
    row = _locked(agent.pk)
    if not row.failures and row.backs_off_until is None:
        raise NotAllowed(f"{agent} does not back off; there is nothing to clear.")
    agent.note(failures=0, backs_off_until=None)
    AuditEvent.objects.record("agent.cleared", actor=by, subject=agent, failures=row.failures)
