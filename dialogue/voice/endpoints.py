"""The models an agent may ask, in their order.

Every change edits the whole list under the agent's lock and is one audit event. A key goes in
and never comes out: the audit log says that it was set, changed or removed, no more.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from dialogue.agents.models.agent import Agent
from dialogue.voice.models import ModelEndpoint, check_model_name
from surfaces import crypto
from surfaces.errors import BadInput, NotAllowed
from surfaces.models import AuditEvent

CHANGED = "agent.changed"
OPEN = ("model", "base_url", "output_style", "streams")  # what may be shown
MAX_MODELS = 8
MAX_KEY = 1_000
ASIDE = 1_000  # ranks nobody has, while others move


def add_brain(
    agent: Agent, *, model: str, base_url: str = "", key: str = "", by: str, **how: Any
) -> ModelEndpoint:
    """Add a model, to be asked last; `how`: its output style, and whether it streams."""
    brain = ModelEndpoint(model=model.strip(), base_url=base_url.strip(), **how)
    brain.sealed_key = seal_key(key)
    with _edit(agent, by=by) as rows:
        rows.append(brain)
    return brain


def change_brain(brain: ModelEndpoint, values: Mapping[str, Any], *, by: str) -> None:
    """Change a model's columns. `key`: a new one, or None to forget it; left out, it stays."""
    with _edit(brain.agent, by=by) as rows:
        row = _find(rows, brain)
        went_to = goes_to(row)
        for column in OPEN:
            setattr(row, column, values.get(column, getattr(row, column)))
        if "key" in values:
            row.sealed_key = seal_key(values["key"] or "")
        elif row.sealed_key and goes_to(row) != went_to:
            raise BadInput(_("Enter the API key again: it was entered for another base URL."))
    brain.refresh_from_db()


def remove_brain(brain: ModelEndpoint, *, by: str) -> None:
    with _edit(brain.agent, by=by) as rows:
        rows.remove(_find(rows, brain))


def move_brain(brain: ModelEndpoint, *, up: bool, by: str) -> None:
    """Ask it one place earlier or later; at the end of the list nothing happens."""
    with _edit(brain.agent, by=by) as rows:
        here = rows.index(_find(rows, brain))
        rows.insert(max(0, here - 1 if up else here + 1), rows.pop(here))


def set_brains(agent: Agent, brains: Sequence[Mapping[str, Any]], *, by: str) -> None:
    """Make the list exactly this, in this order. What is asked as before keeps its key."""
    with _edit(agent, by=by) as rows:
        keys = {goes_to(row): bytes(row.sealed_key) for row in rows}
        facts = [{name: one[name] for name in OPEN if name in one} for one in brains]
        rows[:] = [ModelEndpoint(**each) for each in facts]
        for row, given in zip(rows, brains, strict=True):
            row.sealed_key = seal_key(given.get("key") or "") or keys.get(goes_to(row), b"")


def goes_to(brain: ModelEndpoint) -> tuple[str, str]:
    """Provider and address: whoever is given the key."""
    return brain.model.partition(":")[0], brain.base_url


def seal_key(key: str) -> bytes:
    key = key.strip()
    if len(key) > MAX_KEY or not key.isprintable():
        raise BadInput(_("This is not an API key: it is too long or has invalid characters."))
    return crypto.encrypt(key)


@contextmanager
def _edit(agent: Agent, *, by: str) -> Iterator[list[ModelEndpoint]]:
    """The agent's models under lock: what is done to the list is checked, saved and audited."""
    with transaction.atomic():
        Agent.objects.select_for_update().get(pk=agent.pk)
        before, rows = list(agent.brains.all()), list(agent.brains.all())
        yield rows
        if len(rows) > max(MAX_MODELS, len(before)):
            message = _("%(agent)s already has %(most)s models. Remove one first.")
            raise NotAllowed(message, agent=agent, most=MAX_MODELS)
        for row in rows:
            _check(row)
        agent.brains.exclude(pk__in=[row.pk for row in rows if row.pk]).delete()
        agent.brains.update(rank=F("rank") + ASIDE)
        for rank, row in enumerate(rows):
            row.agent, row.rank = agent, rank
            row.save()
        if facts := _differences(before, rows):
            AuditEvent.objects.record(CHANGED, actor=by, subject=agent, **facts)


def _find(rows: list[ModelEndpoint], brain: ModelEndpoint) -> ModelEndpoint:
    if brain not in rows:
        raise NotAllowed(_("This model was already removed."))
    return rows[rows.index(brain)]


def _check(brain: ModelEndpoint) -> None:
    try:
        check_model_name(brain.model)
        brain.clean_fields(exclude={"agent", "rank", "base_url"})
    except ValidationError as error:
        raise BadInput("%(why)s", why=" ".join(error.messages)) from error
    if brain.base_url and not is_address(brain.base_url):
        raise BadInput(_("Enter a URL like http://127.0.0.1:11434/v1, or leave it empty."))


def is_address(url: str) -> bool:
    """A web address, private hosts included; no password in it, because it would be shown."""
    try:
        parts = urlsplit(url)
        is_plain = parts.username is None and parts.password is None and url.isprintable()
        is_plain = is_plain and parts.port != 0  # raises if the port is not a number
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain
    except ValueError:
        return False


def _differences(before: list[ModelEndpoint], after: list[ModelEndpoint]) -> dict[str, Any]:
    """The list of names if it is another one, and what became of each column and key."""
    names = [", ".join(row.model for row in rows) for rows in (before, after)]
    facts: dict[str, Any] = {"models": names} if names[0] != names[1] else {}
    known = {row.pk: row for row in before}
    for row in after:
        old = known.get(row.pk, ModelEndpoint(model=row.model))
        for column in OPEN if row.pk in known else ():
            was, now = getattr(old, column), getattr(row, column)
            if was != now:
                facts[f"{column} of {old}"] = [was, now]
        if (was := bytes(old.sealed_key)) != (now := bytes(row.sealed_key)):
            after_it = "removed" if not now else "changed" if was else "set"
            facts[f"key of {row}"] = ["set" if was else "not set", after_it]
    return facts
