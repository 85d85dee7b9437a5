"""`manage.py doctor`: run the health checks and print what to do."""

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from dialogue import health_checks as of_agents
from surfaces.health_checks import check_up


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
        for found in findings:
            if options["json"]:
                facts = {"about": found.about, "says": found.says, "advice": found.advice}
                line = json.dumps(facts | {"well": found.is_well}, ensure_ascii=False)
            else:
                advice = f"  → {found.advice}" if found.advice else ""
                mark = "ok  " if found.is_well else "todo"
                line = f"{mark} {found.about}: {found.says}{advice}"
            self.stdout.write(line)
        if not all(finding.is_well for finding in findings):
            raise SystemExit(1)
