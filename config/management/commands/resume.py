"""`manage.py resume`: end a pause."""

from typing import Any

from django.utils import timezone

from config.management.commands.pause import ScopeCommand
from surfaces.pauses import services as pause_services


class Command(ScopeCommand):
    help = "End a pause. Queued drafts are sent."

    def act(self, scope: str, subject: str, options: dict[str, Any]) -> dict[str, str]:
        pause_services.resume(scope, subject, by="command:resume", now=timezone.now())
        return {"resumed": scope, "subject": subject}
