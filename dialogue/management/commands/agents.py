"""`manage.py agents`: bring agents in from files, and write them out."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dialogue import agent_files
from dialogue.agent_files import BadFiles, Brought
from dialogue.agent_plans import Difference
from dialogue.plain_yaml import in_line, visible
from surfaces.errors import RuleBroken

MOST_PROBLEMS = 50
SWITCH = "Importing lets no agent answer by itself; that switch stays as it is."


class Command(BaseCommand):
    help = "Import agents from config.yaml and system-prompt.md, or export them."

    def add_arguments(self, parser: Any) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="import|export")
        bring = what.add_parser("import", help="from DIR, or from each folder in it")
        bring.add_argument("folder", metavar="DIR", type=Path)
        bring.add_argument("--dry-run", action="store_true", help="only show the difference")
        export = what.add_parser("export", help="to a folder of its own in DIR")
        export.add_argument("folder", metavar="DIR", type=Path)
        export.add_argument("--agent", default="", metavar="SLUG", help="only this one")

    def handle(self, *, what: str, folder: Path, **options: Any) -> None:
        try:
            if what == "export":
                slugs = agent_files.export(folder, slug=options["agent"])
                line: dict[str, Any] = {"exported": slugs, "to": str(folder)}
            else:
                line = self.bring(folder, is_rehearsal=options["dry_run"])
        except BadFiles as error:
            raise CommandError(_listed(error), returncode=2) from error
        except RuleBroken as error:
            raise CommandError(in_line(str(error)), returncode=2) from error
        self.stdout.write(json.dumps(line))

    def bring(self, folder: Path, *, is_rehearsal: bool) -> dict[str, Any]:
        brought = agent_files.bring(
            folder,
            by="command:agents",
            now=timezone.now(),
            environ=os.environ,
            is_rehearsal=is_rehearsal,
        )
        if is_rehearsal:
            for one in brought:
                self.stdout.writelines(shown(one))
        return _line(brought, is_rehearsal=is_rehearsal)


def _listed(error: BadFiles) -> str:
    problems = [str(problem) for problem in error.problems]
    more = len(problems) - MOST_PROBLEMS
    return "\n".join(problems[:MOST_PROBLEMS] + ([f"… and {more} more."] if more > 0 else []))


def _line(brought: list[Brought], *, is_rehearsal: bool) -> dict[str, Any]:
    return {
        "dry_run": is_rehearsal,
        "imported": [] if is_rehearsal else [one.slug for one in brought],
        "new": [one.slug for one in brought if one.is_new],
        "changed": {one.slug: one.changed for one in brought if one.changed},
        "kept_only": {one.slug: one.kept_only for one in brought if one.kept_only},
        "keys_not_set": {one.slug: one.unset for one in brought if one.unset},
        "is_autonomous": {one.slug: one.is_autonomous for one in brought},
        "says": SWITCH,
    }


# ── the difference ────────────────────────────────────────────────────────


def shown(one: Brought) -> Iterator[str]:
    """What would change, a line each."""
    state = "would be new" if one.is_new else "" if one.differences else "stays as it is"
    yield f"{one.slug}{': ' if state else ''}{state}\n"
    for difference in one.differences:
        yield from _persona(difference) if difference.name == "persona" else _field(difference)


def _persona(difference: Difference) -> Iterator[str]:
    names = ("persona", agent_files.PERSONA)
    for line in difflib.unified_diff(difference.before, difference.after, *names, lineterm=""):
        yield f"{visible(line)}\n"


def _field(difference: Difference) -> Iterator[str]:
    """What goes and what comes; what a list keeps is not repeated."""
    for sign, lines, others in (
        ("-", difference.before, difference.after),
        ("+", difference.after, difference.before),
    ):
        for line in lines:
            if line not in others or sorted(lines) == sorted(others):
                yield f"{sign} {difference.name}: {in_line(line)}\n"
