"""Say which models an agent may ask, and in which order.

A key goes in and never comes out: the ledger says that it was set or changed, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F

from dialogue.models import Agent, Brain
from dialogue.models.settings import OutputStyle, check_model_name
from dialogue.tuning.values import CHANGED, in_words
from surfaces import sealing
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent

OPEN = ("model", "base_url", "output_style", "streams")  # what may be shown
MOST = 8
LONGEST_KEY = 1_000
ASIDE = 1_000  # ranks nobody has, while others move


@transaction.atomic
def add_brain(
    agent: Agent,
    *,
    model: str,
    base_url: str = "",
    key: str = "",
    output_style: str = OutputStyle.TOOL,
    streams: bool = False,
    by: str,
) -> Brain:
    """Add a model, to be asked last."""
    _hold(agent)
    rows = list(agent.brains.all())
    if len(rows) >= MOST:
        raise NotAllowed(f"{agent} has {MOST} models already. Remove one first.")
    brain = Brain(
        agent=agent,
        rank=max((row.rank for row in rows), default=-1) + 1,
        model=model.strip(),
        base_url=base_url.strip(),
        output_style=output_style,
        streams=streams,
        sealed_key=sealed(key),
    )
    _check(brain)
    brain.save(force_insert=True)
    facts = {f"key of {brain}": ["not set", "set"]} if brain.sealed_key else {}
    _record(agent, [row.model for row in rows], by=by, **facts)
    return brain


@transaction.atomic
def change_brain(brain: Brain, values: Mapping[str, Any], *, by: str) -> None:
    """Change a model's columns. `key`: a new one, or None to forget it; left out, it stays."""
    _hold(brain.agent)
    row = Brain.objects.get(pk=brain.pk)
    went_to = _goes_to(row)
    new, facts = _differences(row, values)
    if new:
        _check(row)
        if row.sealed_key and _goes_to(row) != went_to and "key" not in values:
            raise BadInput("A key belongs to its address. Enter it again for the new one.")
        Brain.objects.filter(pk=row.pk).update(**new)
        AuditEvent.objects.record(CHANGED, actor=by, subject=brain.agent, **facts)
    brain.refresh_from_db()


def _differences(row: Brain, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns to write, already set on `row`, and what the ledger says of them."""
    new: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    name = str(row)
    for column in OPEN:
        value, before = values.get(column, getattr(row, column)), getattr(row, column)
        if value != before:
            new[column] = value
            facts[f"{column} of {name}"] = [in_words(before), in_words(value)]
            setattr(row, column, value)
    if "key" in values:
        new["sealed_key"] = sealed(values["key"] or "")
        before = "set" if row.sealed_key else "not set"
        facts[f"key of {row}"] = [before, "changed" if values["key"] else "removed"]
    return new, facts


@transaction.atomic
def remove_brain(brain: Brain, *, by: str) -> None:
    agent = brain.agent
    _hold(agent)
    before = _names(agent)
    if not Brain.objects.filter(pk=brain.pk).delete()[0]:
        raise NotAllowed("Somebody removed this model already.")
    _record(agent, before, by=by)


@transaction.atomic
def move_brain(brain: Brain, *, up: bool, by: str) -> None:
    """Ask it one place earlier or later; at the end of the line nothing happens."""
    agent = brain.agent
    _hold(agent)
    order = list(agent.brains.values_list("pk", flat=True))
    if brain.pk not in order:
        raise NotAllowed("Somebody removed this model already.")
    here = order.index(brain.pk)
    there = here - 1 if up else here + 1
    if not 0 <= there < len(order):
        return
    before = _names(agent)
    order[here], order[there] = order[there], order[here]
    agent.brains.update(rank=F("rank") + ASIDE)
    for rank, pk in enumerate(order):
        Brain.objects.filter(pk=pk).update(rank=rank)
    _record(agent, before, by=by)


@transaction.atomic
def set_brains(agent: Agent, brains: Sequence[Mapping[str, Any]], *, by: str) -> None:
    """Make the list exactly this, in this order. What is asked as before keeps its key."""
    _hold(agent)
    before = _names(agent)
    keys = {_goes_to(row): bytes(row.sealed_key) for row in agent.brains.all()}
    given = [{name: row[name] for name in OPEN if name in row} for row in brains]
    rows = [Brain(agent=agent, rank=rank, **facts) for rank, facts in enumerate(given)]
    for row, source in zip(rows, brains, strict=True):
        row.sealed_key = sealed(source.get("key") or "") or keys.get(_goes_to(row), b"")
        _check(row)
    agent.brains.all().delete()
    Brain.objects.bulk_create(rows)
    _record(agent, before, by=by)


def _goes_to(brain: Brain) -> tuple[str, str]:
    """Provider and address: whoever hears the key."""
    return brain.model.partition(":")[0], brain.base_url


def sealed(key: str) -> bytes:
    key = key.strip()
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise BadInput("This is no key: it is too long, or has characters that no key has.")
    return sealing.sealed(key)


def _hold(agent: Agent) -> None:
    """One change of an agent's models at a time."""
    Agent.objects.select_for_update().get(pk=agent.pk)


def _check(brain: Brain) -> None:
    try:
        check_model_name(brain.model)
        brain.clean_fields(exclude={"agent", "rank", "base_url"})
    except ValidationError as error:
        raise BadInput(" ".join(error.messages)) from error
    if not _is_address(brain.base_url):
        raise BadInput("This is no address. Enter one like http://127.0.0.1:11434/v1, or nothing.")


def _is_address(url: str) -> bool:
    """A web address, of a host in a network of ours too; a password in it would be shown."""
    try:
        parts = urlsplit(url)
        is_plain = parts.username is None and parts.password is None and url.isprintable()
        is_plain = is_plain and parts.port != 0  # one that is no number raises
        return not url or (parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain)
    except ValueError:
        return False


def _names(agent: Agent) -> list[str]:
    return list(agent.brains.values_list("model", flat=True))


def _record(agent: Agent, before: list[str], *, by: str, **facts: Any) -> None:
    """One line, if the list or a key is another one than before."""
    after = _names(agent)
    if after != before:
        facts = {"models": [", ".join(before), ", ".join(after)], **facts}
    if facts:
        AuditEvent.objects.record(CHANGED, actor=by, subject=agent, **facts)
