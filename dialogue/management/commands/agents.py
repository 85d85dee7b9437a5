"""`manage.py agents`: import agents from files, or export them."""

import difflib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dialogue.agent_files.config import kept_only
from dialogue.agent_files.plan import ImportPlan
from dialogue.agent_files.services import PERSONA, export_agents, import_agents
from dialogue.agent_files.strict_yaml import escape_control, to_single_line
from surfaces.errors import RuleBroken

SWITCH = "An import does not change whether an agent replies automatically."


class Command(BaseCommand):
    help = "Import agents from config.yaml and system-prompt.md, or export them."

    def add_arguments(self, parser: Any) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="import|export")
        bring = what.add_parser("import", help="import DIR, or each folder in it")
        bring.add_argument("folder", metavar="DIR", type=Path)
        bring.add_argument("--dry-run", action="store_true", help="show the changes only")
        export = what.add_parser("export", help="export each agent to its own folder")
        export.add_argument("folder", metavar="DIR", type=Path)
        export.add_argument("--agent", default="", metavar="SLUG", help="export only this agent")

    def handle(self, *, what: str, folder: Path, **options: Any) -> None:
        try:
            if what == "export":
                slugs = export_agents(folder, slug=options["agent"])
                line: dict[str, Any] = {"exported": slugs, "to": str(folder)}
            else:
                line = self.import_folder(folder, is_dry_run=options["dry_run"])
        except RuleBroken as error:
            raise CommandError(escape_control(str(error)), returncode=2) from error
        self.stdout.write(json.dumps(line))

    def import_folder(self, folder: Path, *, is_dry_run: bool) -> dict[str, Any]:
        plans = import_agents(
            folder,
            by="command:agents",
            now=timezone.now(),
            environ=os.environ,
            is_dry_run=is_dry_run,
        )
        for plan in plans if is_dry_run else []:
            self.stdout.writelines(describe(plan))
        return summarize(plans, is_dry_run=is_dry_run)


def summarize(plans: list[ImportPlan], *, is_dry_run: bool) -> dict[str, Any]:
    kept = {plan.desired.slug: sorted(kept_only(plan.carried)) for plan in plans}
    missing = {plan.desired.slug: plan.missing_keys for plan in plans}
    return {
        "dry_run": is_dry_run,
        "imported": [] if is_dry_run else [plan.desired.slug for plan in plans],
        "new": [plan.desired.slug for plan in plans if plan.agent is None],
        "changed": {plan.desired.slug: plan.changed for plan in plans if plan.changed},
        "kept_only": {slug: names for slug, names in kept.items() if names},
        "keys_not_set": {slug: names for slug, names in missing.items() if names},
        "is_autonomous": {
            plan.desired.slug: plan.agent is not None and plan.agent.settings.is_autonomous
            for plan in plans
        },
        "says": SWITCH,
    }


def describe(plan: ImportPlan) -> Iterator[str]:
    """What would change, a line each."""
    state = ": new" if plan.agent is None else "" if plan.differences else ": no change"
    yield f"{plan.desired.slug}{state}\n"
    for difference in plan.differences:
        before, after = difference.before, difference.after
        if difference.name == "persona":
            for line in difflib.unified_diff(before, after, "persona", PERSONA, lineterm=""):
                yield f"{escape_control(line)}\n"
        else:
            yield from _field(difference.name, before, after)


def _field(name: str, before: list[str], after: list[str]) -> Iterator[str]:
    """Removed and added lines; unchanged entries of a list are left out."""
    for sign, lines, others in (("-", before, after), ("+", after, before)):
        for line in lines:
            if line not in others or sorted(lines) == sorted(others):
                yield f"{sign} {name}: {to_single_line(line)}\n"
