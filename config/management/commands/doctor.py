"""`manage.py doctor`: run the health checks and print what to do."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from dialogue import health_checks as of_agents
from surfaces.health_checks import Finding, check_up


class Command(BaseCommand):
    help = "Run all health checks. Exit status 1 if something needs to be done."
    requires_system_checks: list[str] = []  # it must run when checks fail

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON line per check")

    def handle(self, **options: Any) -> None:
        now = timezone.now()
        findings = list(check_up(now=now))
        if findings[-1].about not in {"database", "tables"}:  # the other checks need both
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
