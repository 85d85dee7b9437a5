"""`manage.py activate`: activate agents that have work of a pool; `reply` is one pool of it."""

from dataclasses import fields
from typing import Any

from django.core.management.base import CommandError

from dialogue import replier
from dialogue.activations.pools import Pool
from dialogue.management.commands import reply
from surfaces.workers.models import WorkerKind


class Command(reply.Command):
    help = "Activate agents that have work. Runs in a loop unless --once."
    kind, works = WorkerKind.AGENTS.value, "activates agents"
    counts = tuple(field.name for field in fields(replier.RoundReport))

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        what = "work to take: notification, exploration or hybrid (both, the default)"
        parser.add_argument("--pool", default=Pool.HYBRID.value, help=what)

    def handle(self, **options: Any) -> None:
        self.pool = options["pool"]
        if self.pool not in list(Pool):
            message = f"--pool must be one of {', '.join(Pool)}, not {self.pool!r}."
            raise CommandError(message, returncode=2)
        super().handle(**options)
