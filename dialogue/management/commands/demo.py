"""`manage.py demo`: create a demo community with two agents, or remove it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from dialogue import demo
from dialogue.agents.models.agent import Agent
from surfaces import demo as hub
from surfaces.errors import RuleBroken
from surfaces.models import Account, Message
from surfaces.spam import feedback
from surfaces.watcher import rounds


class Command(BaseCommand):
    help = "Create a demo community with two agents; --clear removes it."

    def add_arguments(self, parser: Any) -> None:
        which = parser.add_mutually_exclusive_group()
        what = "only if there are no accounts and no agents"
        which.add_argument("--if-empty", action="store_true", help=what)
        which.add_argument("--clear", action="store_true", help="remove the demo and nothing else")

    def handle(self, **options: Any) -> None:
        try:
            self.stdout.write(_clear() if options["clear"] else _make(options["if_empty"]))
        except RuleBroken as error:
            raise CommandError(str(error), returncode=2) from error


def _make(only_if_empty: bool) -> str:
    if only_if_empty and Account.objects.exists():
        return "An account exists already; no demo was created."
    if only_if_empty and Agent.objects.exists():
        return "An agent exists already; no demo was created."
    if hub.is_made():
        return "The demo exists already."
    accounts = demo.make(now=timezone.now())
    for account in accounts:
        rounds.round_of(account)
    drafts = demo.draft_answers(now=timezone.now())
    demo.activate(now=timezone.now())
    messages = Message.objects.filter(account__in=accounts).count()
    names = " and ".join(account.name for account in accounts)
    return f"Created the demo: {messages} messages read as {names}, {drafts} drafts await approval."


@transaction.atomic
def _clear() -> str:
    if not hub.is_made():
        return "There is no demo to remove."
    marked = Message.objects.filter(account__in=hub.accounts(), spam_decision__isnull=False)
    for message in marked:
        # The spam filter forgets what it learned from demo messages.
        feedback.unmark(message, by=hub.ACTOR, now=timezone.now())
    try:
        demo.clear()
    except ProtectedError as error:
        kinds = {str(row._meta.verbose_name_plural) for row in error.protected_objects}
        why = f"Remove the demo's {', '.join(sorted(kinds))} first."
        raise CommandError(why, returncode=2) from error
    return "Removed the demo. Its entries in the audit log are kept."
