"""`manage.py resume`: end a pause."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from config.management.commands.pause import add_scope, scope_of
from surfaces.errors import RuleBroken
from surfaces.pauses import services as pause_services


class Command(BaseCommand):
    help = "End a pause. Queued drafts are sent."

    def add_arguments(self, parser: Any) -> None:
        add_scope(parser)

    def handle(self, **options: Any) -> None:
        scope, subject = scope_of(options)
        try:
            pause_services.resume(scope, subject, by="command:resume", now=timezone.now())
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error
        self.stdout.write(json.dumps({"resumed": scope, "subject": subject}))
