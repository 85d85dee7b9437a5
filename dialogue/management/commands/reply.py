"""`manage.py reply`: bring the inbox up to date and answer what is due."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from dialogue import rounds
from surfaces.looping import LoopingCommand

MOST_WORKERS = 64  # each holds a connection to the database
WHOLE = 10  # every so many rounds, also what nobody waits for


class Command(LoopingCommand):
    help = "Answer what awaits an answer, wake agents elsewhere, lay stones. Loops unless --once."
    kind, works = "replier", "writes answers"
    number = 0

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--workers",
            type=int,
            default=4,
            help="voices that may write at once, 1 to 64; at first 4",
        )

    def handle(self, **options: Any) -> None:
        if not 1 <= options["workers"] <= MOST_WORKERS:
            given = options["workers"]
            raise CommandError(
                f"Let 1 to {MOST_WORKERS} voices write at once; {given} is neither.", returncode=2
            )
        # One round says all it did when one thread does it.
        with rounds.Crew(1 if options["once"] else options["workers"]) as self.crew:
            super().handle(**options)

    def step(self) -> list[dict[str, Any]]:
        is_whole, self.number = self.number % WHOLE == 0, self.number + 1
        done = rounds.one(
            self.crew, clock=timezone.now, until=self.ending.is_set, is_whole=is_whole
        )
        return [asdict(done)] if done.did else []

    def nothing(self) -> dict[str, Any]:
        return asdict(rounds.Round())
