"""`manage.py backfill ACCOUNT`: read an account's whole history."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from surfaces.backfilling import Step, backfill
from surfaces.errors import SurfaceError
from surfaces.models import Account


class Command(BaseCommand):
    help = "Read all our posts there, with their comments. Safe to stop and to repeat."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("account", help="the account's name, as on the Surfaces page")

    def handle(self, **options: Any) -> None:
        account = Account.objects.filter(name=options["account"]).select_related("surface").first()
        if account is None:
            raise CommandError(f"There is no account {options['account']}.", returncode=2)
        last = Step(0, 0, 0, 0, "")
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
                    progress.update(task, description=f"{last.posts} posts, {last.title[:50]}")
        except SurfaceError as error:
            raise CommandError(
                f"Stopped after {last.posts} posts: {error}. Run it again to go on.", returncode=1
            ) from error
        self.stdout.write(json.dumps({"account": account.name, "posts": last.posts,
            "seen": last.comments_seen, "new": last.stored, "skipped": last.skipped}))  # fmt: skip
