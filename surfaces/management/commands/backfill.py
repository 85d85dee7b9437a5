"""`manage.py backfill ACCOUNT`: read an account's whole history."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from surfaces.accounts.models.account import Account
from surfaces.errors import SurfaceError
from surfaces.watcher.backfill import BackfillStep, backfill


class Command(BaseCommand):
    help = (
        "Read all posts of an account and their comments. Waits for the service's limits, and goes "
        "on where it stopped."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("account", help="the account's name, as on the Surfaces page")

    def handle(self, **options: Any) -> None:
        name = options["account"]
        account = Account.objects.filter(name=name).select_related("surface").first()
        if account is None:
            raise CommandError(f"There is no account {name}. See the Surfaces page.", returncode=2)
        last = BackfillStep(0, 0, 0, 0, "")
        try:
            with Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                disable=not self.stderr.isatty(),
            ) as progress:
                task = progress.add_task("Reading the history")
                for last in backfill(account, clock=timezone.now):
                    progress.update(task, description=describe(last))
        except SurfaceError as error:
            raise CommandError(
                f"Stopped after {last.posts} posts: {error}. Run the command again to continue.",
                returncode=1,
            ) from error
        except KeyboardInterrupt:
            raise CommandError(
                f"Stopped after {last.posts} posts. Run the command again to continue.",
                returncode=130,
            ) from None
        self.stdout.write(json.dumps({"account": account.name, "posts": last.posts,
            "seen": last.comments_seen, "new": last.stored, "skipped": last.skipped}))  # fmt: skip


def describe(step: BackfillStep) -> str:
    if step.waits_until:
        return f"{step.posts} posts, waits until {step.waits_until:%H:%M:%S} UTC: {step.why}"
    return f"{step.posts} posts, {step.title[:50]}"
