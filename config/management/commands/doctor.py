"""`manage.py doctor`: is everything well, and if not, what to do."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from dialogue import checkup as of_agents
from surfaces.checkup import Finding, check_up


class Command(BaseCommand):
    help = "Look everything over. Exit status 1 when something needs doing."
    requires_system_checks: list[str] = []  # a doctor comes to the sick, too

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON line per finding")

    def handle(self, **options: Any) -> None:
        now = timezone.now()
        findings = list(check_up(now=now))
        if findings[-1].about not in {"database", "tables"}:  # there is nothing to look at yet
            findings += of_agents.check_up(now=now)
        for finding in findings:
            self.stdout.write(_as_json(finding) if options["json"] else _as_text(finding))
        if not all(finding.is_well for finding in findings):
            raise SystemExit(1)


def _as_text(finding: Finding) -> str:
    mark = "ok  " if finding.is_well else "todo"
    advice = f"  → {finding.advice}" if finding.advice else ""
    return f"{mark} {finding.about}: {finding.says}{advice}"


def _as_json(finding: Finding) -> str:
    facts = {"about": finding.about, "says": finding.says, "advice": finding.advice}
    return json.dumps(facts | {"well": finding.is_well}, ensure_ascii=False)
