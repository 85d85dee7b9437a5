"""`manage.py recount`: count the notifications of agents anew, by which agents are chosen."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dialogue.activations import priorities
from dialogue.models import Agent


class Command(BaseCommand):
    help = "Count agents' unread notifications anew. Needed only if doctor says so."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--agent", default="", help="slug of one agent; default: all")

    def handle(self, *, agent: str, **options: Any) -> None:
        rows = Agent.objects.filter(slug=agent) if agent else Agent.objects.all()
        slugs = list(rows.values_list("slug", flat=True))
        if agent and not slugs:
            raise CommandError(f"There is no agent {agent!r}.", returncode=2)
        self.stdout.write(json.dumps({"agents": priorities.recount(slugs)}))
