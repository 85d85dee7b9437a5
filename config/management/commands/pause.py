"""`manage.py pause`: stop sending."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from dialogue.models import Agent
from surfaces.errors import RuleBroken
from surfaces.pauses import services as pause_services
from surfaces.text.reasons import note


class ScopeCommand(BaseCommand):
    """A command about everything, one surface, one account or one agent."""

    def add_arguments(self, parser: Any) -> None:
        scope = parser.add_mutually_exclusive_group(required=True)
        scope.add_argument("--all", action="store_true", help="everything")
        scope.add_argument("--surface", metavar="S", help="one surface, by its slug")
        scope.add_argument("--account", metavar="A", help="one account, by its name")
        scope.add_argument("--agent", metavar="A", help="one agent, by its slug")

    def handle(self, **options: Any) -> None:
        given = [name for name in ("surface", "account", "agent") if options[name] is not None]
        scope, subject = (given[0], options[given[0]]) if given else ("all", "")
        try:
            said = self.act(scope, subject, options)
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error
        self.stdout.write(json.dumps(said))

    def act(self, scope: str, subject: str, options: dict[str, Any]) -> dict[str, str]:
        raise NotImplementedError


class Command(ScopeCommand):
    help = (
        "Stop writing replies and sending: for everything, one surface, one account or one agent."
    )

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.add_argument("--why", default="", help="the reason, shown to every operator")

    def act(self, scope: str, subject: str, options: dict[str, Any]) -> dict[str, str]:
        why, now = note(options["why"]), timezone.now()
        if scope == "agent" and subject and not Agent.objects.filter(slug=subject).exists():
            # A mistyped name must not look like a pause.
            raise CommandError(f"There is no agent {subject}. See the Agents page.", returncode=2)
        row = pause_services.pause(scope, subject, why=why, by="command:pause", now=now)
        return {"paused": scope, "subject": subject, "since": row.since.isoformat()}
