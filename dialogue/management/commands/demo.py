"""`manage.py demo`: fill an empty database with a community to try the program on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from dialogue import demo
from dialogue.models import Agent
from surfaces import judging, watcher
from surfaces.errors import RuleBroken
from surfaces.hub import demo as hub
from surfaces.models import Account, Message


class Command(BaseCommand):
    help = "Make a demo community with two agents in it; --clear takes it away."

    def add_arguments(self, parser: Any) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--if-empty", action="store_true", help="only if there is no account")
        which.add_argument("--clear", action="store_true", help="remove exactly the demo")

    def handle(self, **options: Any) -> None:
        try:
            self.stdout.write(_clear() if options["clear"] else _make(options["if_empty"]))
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error


def _make(only_if_empty: bool) -> str:
    if only_if_empty and Account.objects.exists():
        return "There is an account already; no demo was made."
    if only_if_empty and Agent.objects.exists():
        return "There is an agent already; no demo was made."
    if hub.is_made():
        return "The demo is here already."
    accounts = demo.make(now=timezone.now())
    for account in accounts:
        watcher.round_of(account)
    drafts = demo.draft_answers(now=timezone.now())
    messages = Message.objects.filter(account__in=accounts).count()
    names = " and ".join(account.name for account in accounts)
    return f"Made a demo: {messages} messages were read as {names}, {drafts} drafts wait."


@transaction.atomic
def _clear() -> str:
    if not hub.is_made():
        return "There is no demo here."
    marked = Message.objects.filter(account__in=hub.accounts(), spam_decision__isnull=False)
    for message in marked:
        # What operators taught the filter on demo words is unlearned with them.
        judging.unmark(message, by=hub.ACTOR, now=timezone.now())
    try:
        demo.clear()
    except ProtectedError as error:
        kinds = {str(row._meta.verbose_name_plural) for row in error.protected_objects}
        why = f"Remove the demo's {', '.join(sorted(kinds))} first."
        raise CommandError(why, returncode=2) from error
    return "The demo is gone; its lines in the ledger stay."
