"""Bring agents in from files and write them out: all of them or none, and never a secret.

    DIR/config.yaml + DIR/system-prompt.md            one agent
    DIR/<slug>/config.yaml + …/system-prompt.md       several

Importing changes what the files say and nothing else. It never lets an agent answer by
itself: that switch is no part of a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from dialogue import presences, tuning
from dialogue.agent_config import Wanted, kept_only, read, written
from dialogue.agent_plans import Difference, Plan, minds_of
from dialogue.models import Agent
from dialogue.plain_yaml import LARGEST, Problem
from dialogue.tuning.values import cleaned
from surfaces.checks import SECRETS
from surfaces.errors import BadInput, StaleState
from surfaces.models import AuditEvent

CONFIG = "config.yaml"
PERSONA = "system-prompt.md"
MOST_AGENTS = 500  # in one folder


class BadFiles(BadInput):
    """Everything that is wrong in the files, one sentence a line."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """What importing one agent did, or would do."""

    slug: str
    is_new: bool
    is_autonomous: bool
    differences: list[Difference]
    kept_only: list[str]  # keys that nothing acts on yet
    unset: list[str]  # variables that should hold a key, and do not

    @classmethod
    def by(cls, plan: Plan, agent: Agent | None) -> Brought:
        return cls(
            slug=plan.wanted.slug,
            is_new=plan.agent is None,
            is_autonomous=agent is not None and agent.settings.is_autonomous,
            differences=plan.differences,
            kept_only=sorted(kept_only(plan.carried)),
            unset=plan.unset,
        )

    @property
    def changed(self) -> list[str]:
        return [difference.name for difference in self.differences]


# ── the folder ────────────────────────────────────────────────────────────


def look(folder: Path) -> list[Wanted]:
    """Read all that a folder wants, or say everything that is wrong in it."""
    found, problems = [], []
    for place in _places(folder):
        wanted, wrong = _one(place)
        if place != folder and not wrong and wanted.slug != place.name:
            why = f"must be the name of its folder, {place.name}"
            wrong = [Problem(wanted.file, wanted.lines["name"], "name", why)]
        found.append(wanted)
        problems += wrong
    if problems:
        raise BadFiles(problems)
    return found


def _places(folder: Path) -> list[Path]:
    """The folders that hold an agent each."""
    try:
        inside = sorted(path for path in folder.iterdir() if (path / CONFIG).is_file())
        is_one = (folder / CONFIG).is_file()
    except OSError as error:
        raise BadInput(f"The folder {folder} cannot be read: {_why(error)}.") from error
    if is_one and inside:
        raise BadInput(f"{folder} holds {CONFIG} and folders with one. Choose one of them.")
    if len(inside) > MOST_AGENTS:
        raise BadInput(f"{folder} holds {len(inside)} agents; at most {MOST_AGENTS} come at once.")
    if not is_one and not inside:
        raise BadInput(f"There is no {CONFIG} in {folder}, and in no folder inside it.")
    return [folder] if is_one else inside


def _one(place: Path) -> tuple[Wanted, list[Problem]]:
    config, persona = place / CONFIG, place / PERSONA
    text, problems = _text(config)
    wanted = Wanted(slug=place.name, file=str(config))
    if not problems:
        wanted, problems = read(text, str(config), _name_of(place))
    if os.path.lexists(persona):
        words, wrong = _text(persona)
        problems += wrong or _persona(words, str(persona), wanted)
    return wanted, problems


def _name_of(place: Path) -> str:
    return place.resolve().name if place.name in {"", ".."} else place.name


def _text(path: Path) -> tuple[str, list[Problem]]:
    if not path.is_file():  # a pipe would be waited on for ever
        return "", [Problem(str(path), 0, "", "it is no file, or leads to none")]
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            why = f"it is larger than {LARGEST // 1024} kB"
            return "", [Problem(str(path), 0, "", why)]
        return content.decode("utf-8-sig"), []
    except OSError as error:
        return "", [Problem(str(path), 0, "", f"it cannot be read: {_why(error)}")]
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return "", [Problem(str(path), line, "", "it is not UTF-8")]


def _persona(words: str, file: str, wanted: Wanted) -> list[Problem]:
    for is_bad, at, why in (
        ("\0" in words, words.find("\0"), "it holds a NUL"),
        *((True, found.start(), "it holds something shaped like a key; take it out")
          for found in [SECRETS.search(words)] if found),
    ):  # fmt: skip
        if is_bad:
            return [Problem(file, words.count("\n", 0, at) + 1, "", why)]
    try:
        wanted.values["persona"] = cleaned("persona", words)
    except BadInput as error:
        return [Problem(file, 0, "", str(error).rstrip("."))]
    return []


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


# ── importing ─────────────────────────────────────────────────────────────


def bring(
    folder: Path,
    *,
    by: str,
    now: datetime,
    environ: Mapping[str, str],
    is_rehearsal: bool = False,
) -> list[Brought]:
    """Import a folder, or only say what that would change. All agents or none."""
    found = look(folder)
    with transaction.atomic():
        plans = [Plan.of(wanted, environ) for wanted in found]
        if problems := [problem for plan in plans for problem in plan.problems()]:
            raise BadFiles(problems)
        if is_rehearsal:
            return [Brought.by(plan, plan.agent) for plan in plans]
        return [Brought.by(plan, _carry_out(plan, by=by, now=now)) for plan in plans]


def _carry_out(plan: Plan, *, by: str, now: datetime) -> Agent:
    wanted, changed = plan.wanted, [difference.name for difference in plan.differences]
    agent = plan.agent or _made(wanted, by=by)
    tuning.change_agent(agent, wanted.values, by=by, now=now, why=f"Imported from {wanted.file}.")
    if plan.asks_others:
        tuning.set_brains(agent, list(_rows(plan)), by=by)
    if plan.carried != plan.held_carried:
        agent.note(carried=plan.carried)
    if changed or plan.agent is None:
        AuditEvent.objects.record(
            "agent.imported", actor=by, subject=agent, file=wanted.file, changed=changed
        )
    return agent


def _made(wanted: Wanted, *, by: str) -> Agent:
    try:
        return presences.make_agent(wanted.slug, name=wanted.values.get("name", ""), by=by)
    except IntegrityError as error:
        raise StaleState(f"Somebody made {wanted.slug} just now. Import again.") from error


def _rows(plan: Plan) -> Iterator[dict[str, Any]]:
    for rank, mind in enumerate(plan.minds):
        yield {
            "model": mind.model,
            "base_url": mind.base_url,
            "output_style": mind.output_style,
            "streams": mind.streams,
            "key": plan.keys.get(rank, ""),
        }


# ── exporting ─────────────────────────────────────────────────────────────


def export(folder: Path, *, slug: str = "") -> list[str]:
    """Write agents to folders of their own inside `folder`; return whose."""
    agents = Agent.objects.select_related("settings").prefetch_related("brains")
    chosen = list(agents.filter(slug=slug) if slug else agents)
    if not chosen:
        raise BadInput(f"There is no agent {slug}." if slug else "There is no agent to export.")
    texts = {
        folder / agent.slug / name: text for agent in chosen for name, text in _texts(agent).items()
    }
    try:
        for path, text in texts.items():
            _write(path, text)
    except OSError as error:
        raise BadInput(f"{error.filename or folder} cannot be written: {_why(error)}.") from error
    return [agent.slug for agent in chosen]


def _texts(agent: Agent) -> dict[str, str]:
    minds = minds_of(list(agent.brains.all()), agent.carried)
    texts = {
        CONFIG: written(agent.slug, tuning.values_of(agent), minds, agent.carried),
        PERSONA: f"{agent.persona}\n" if agent.persona else "",
    }
    for name, text in texts.items():
        if len(text.encode()) > LARGEST:
            raise BadInput(f"The {name} of {agent.slug} would be larger than {LARGEST // 1024} kB.")
    return texts


def _write(path: Path, text: str) -> None:
    """Whole, or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(text.encode())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
