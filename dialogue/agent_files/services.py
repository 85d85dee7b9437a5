"""Import agents from files, or export them: all of them or none, and never a key.

    DIR/config.yaml + DIR/system-prompt.md            one agent
    DIR/<slug>/config.yaml + …/system-prompt.md       several

An import changes what the files say and nothing else. Whether an agent answers by itself is
not in a file.
"""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _lazy

from dialogue.agent_files.config import DesiredAgent, read_config, write_config
from dialogue.agent_files.plan import ImportPlan, make_plan, specs_of
from dialogue.agent_files.strict_yaml import MAX_BYTES, SECRET_FOUND, YamlDocument
from dialogue.agents import services as agent_services
from dialogue.agents.models.agent import Agent
from dialogue.agents.settings.values import agent_values, cleaned
from dialogue.voice.endpoints import set_brains
from surfaces.drafts.text_checks import SECRETS
from surfaces.errors import BadInput, StaleState
from surfaces.models import AuditEvent
from surfaces.settings.services import change
from surfaces.text.reasons import reason

CONFIG = "config.yaml"
PERSONA = "system-prompt.md"
MAX_PROBLEMS = 50  # that are listed


def _raise_problems(found: list[DesiredAgent]) -> None:
    """One sentence a line."""
    problems = [problem for desired in found for problem in desired.document.problems]
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"… and {len(problems) - MAX_PROBLEMS} more."]
    if problems:
        raise BadInput("\n".join(problems))


def _agent_folders(folder: Path) -> list[Path]:
    try:
        inside = sorted(path for path in folder.iterdir() if (path / CONFIG).is_file())
        is_one = (folder / CONFIG).is_file()
    except OSError as error:
        message = _lazy("The folder %(folder)s cannot be read: %(why)s.")
        raise BadInput(message, folder=folder, why=_reason(error)) from error
    if is_one and inside:
        message = _lazy("%(folder)s contains %(config)s and folders with one. Choose one of them.")
        raise BadInput(message, folder=folder, config=CONFIG)
    if not is_one and not inside:
        message = _lazy("There is no %(config)s in %(folder)s or in a folder inside it.")
        raise BadInput(message, config=CONFIG, folder=folder)
    return [folder] if is_one else inside


def _read_agent(path: Path, folder: Path) -> DesiredAgent:
    name = path.resolve().name if path.name in {"", ".."} else path.name
    document = YamlDocument(str(path / CONFIG))
    if (text := _read_text(path / CONFIG, document)) is not None:
        document.load(text)
    desired = read_config(document, name)
    if path != folder and not document.problems and desired.slug != name:
        document.report(("name",), f"must be the name of its folder, {name}")
    if os.path.lexists(path / PERSONA):
        _read_persona(path / PERSONA, desired)
    return desired


def _read_persona(path: Path, desired: DesiredAgent) -> None:
    document = desired.document
    if (text := _read_text(path, document)) is None:
        return
    for pattern, why in (("\0", "it contains a NUL"), (SECRETS, f"it {SECRET_FOUND}")):
        if found := re.search(pattern, text):
            line = text.count("\n", 0, found.start()) + 1
            document.add_problem(why, line, file=str(path))
            return
    try:
        # The line break that ends a file is not part of the text.
        desired.values["persona"] = cleaned("persona", text).removesuffix("\n")
    except BadInput as error:
        document.add_problem(str(error).rstrip("."), file=str(path))


def _read_text(path: Path, document: YamlDocument) -> str | None:
    line, content = 0, b""
    try:
        if path.is_file():  # reading from a pipe would not end
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) <= MAX_BYTES:
                return content.decode("utf-8-sig")
            why = f"it is larger than {MAX_BYTES // 1024} kB"
        else:
            why = "it is not a file"
    except OSError as error:
        why = f"it cannot be read: {_reason(error)}"
    except UnicodeDecodeError as error:
        line, why = content.count(b"\n", 0, error.start) + 1, "it is not UTF-8"
    document.add_problem(why, line, file=str(path))
    return None


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def import_agents(
    folder: Path, *, by: str, now: datetime, environ: Mapping[str, str], is_dry_run: bool = False
) -> list[ImportPlan]:
    """Import a folder, or only say what that would change. All agents or none."""
    found = [_read_agent(path, folder) for path in _agent_folders(folder)]
    _raise_problems(found)
    with transaction.atomic():
        plans = [make_plan(desired, environ) for desired in found]
        _raise_problems(found)
        for plan in [] if is_dry_run else plans:
            _apply(plan, by=by, now=now)
    return plans


def _apply(plan: ImportPlan, *, by: str, now: datetime) -> None:
    slug, file, values = plan.desired.slug, plan.desired.document.file, plan.desired.values
    try:
        agent = plan.agent or agent_services.make_agent(slug, name=values.get("name", ""), by=by)
    except IntegrityError as error:
        message = _lazy("Somebody else has just created %(slug)s. Import again.")
        raise StaleState(message, slug=slug) from error
    change(agent, values, by=by, now=now, why=reason("agent.imported_from", file=file))
    if plan.keys or "models" in plan.changed:
        rows = [
            spec.model_dump(include={"output_style", "streams"})
            | {"model": spec.name, "base_url": spec.api_base or "", "key": plan.keys.get(rank, "")}
            for rank, spec in enumerate(plan.models)
        ]
        set_brains(agent, rows, by=by)
    if plan.carried != agent.carried:
        agent.note(carried=plan.carried)
    if plan.changed or plan.agent is None:
        AuditEvent.objects.record(
            "agent.imported", actor=by, subject=agent, file=file, changed=plan.changed
        )


def export_agents(folder: Path, *, slug: str = "") -> list[str]:
    """Write agents to folders of their own inside `folder`; return their names."""
    agents = Agent.objects.select_related("settings").prefetch_related("brains")
    chosen = list(agents.filter(slug=slug) if slug else agents)
    if slug and not chosen:
        raise BadInput(_lazy("There is no agent %(slug)s."), slug=slug)
    if not chosen:
        raise BadInput(_lazy("There is no agent to export."))
    texts: dict[Path, bytes] = {}
    for agent in chosen:
        specs = specs_of(list(agent.brains.all()), agent.carried)
        config = write_config(agent.slug, agent_values(agent), specs, agent.carried)
        texts[folder / agent.slug / CONFIG] = config.encode()
        persona = f"{agent.persona}\n" if agent.persona else ""
        texts[folder / agent.slug / PERSONA] = persona.encode()
    if path := next((path for path, text in texts.items() if len(text) > MAX_BYTES), None):
        message = _lazy("%(path)s would be larger than %(limit)s kB.")
        raise BadInput(message, path=path, limit=MAX_BYTES // 1024)
    try:
        for path, content in texts.items():
            _write_file(path, content)
    except OSError as error:
        message = _lazy("%(path)s cannot be written: %(why)s.")
        raise BadInput(message, path=error.filename, why=_reason(error)) from error
    return [agent.slug for agent in chosen]


def _write_file(path: Path, content: bytes) -> None:
    """Replace the file as a whole, or leave it as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
