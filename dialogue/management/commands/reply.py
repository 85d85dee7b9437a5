"""`manage.py reply`: update inboxes and write the replies that are due."""

from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from dialogue import replier
from dialogue.activations.pools import Pool
from surfaces.workers.commands import PollingCommand
from surfaces.workers.models import WorkerKind

MOST_WORKERS = 64  # each holds a connection to the database
WHOLE = 10  # every n-th round also does the work that is not urgent


class Command(PollingCommand):
    help = "Write due replies and posts and call webhooks. Runs in a loop unless --once."
    kind, works = WorkerKind.REPLIER.value, "writes replies"
    number, pool = 0, Pool.NOTIFICATION.value
    # What is printed: the counts of a report that came before exploration.
    counts: tuple[str, ...] = (
        "new", "opened", "answered", "passed", "held", "waits", "drafted", "failed", "given_back",
        "taken_back", "stale", "stones", "woken",
    )  # fmt: skip

    def add_arguments(self, parser: Any) -> None:
        super().add_arguments(parser)
        what = "activations at the same time, 1 to 64; default 4"
        parser.add_argument("--workers", type=int, default=4, help=what)

    def handle(self, **options: Any) -> None:
        if not 1 <= options["workers"] <= MOST_WORKERS:
            given = options["workers"]
            raise CommandError(f"--workers must be 1 to {MOST_WORKERS}, not {given}.", returncode=2)
        # With one thread, the report of one round is complete.
        with replier.ReplierPool(0 if options["once"] else options["workers"]) as self.crew:
            super().handle(**options)

    def step(self) -> list[dict[str, Any]]:
        is_whole, self.number = self.number % WHOLE == 0, self.number + 1
        done = replier.run_round(
            self.crew, clock=timezone.now, until=self.ending.is_set, is_whole=is_whole,
            pool=self.pool,
        )  # fmt: skip
        return [self._line(done)] if done.did else []

    def nothing(self) -> dict[str, Any]:
        return self._line(replier.RoundReport())

    def _line(self, done: replier.RoundReport) -> dict[str, Any]:
        return {name: getattr(done, name) for name in self.counts}
