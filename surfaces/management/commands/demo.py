"""`manage.py demo`: fill an empty database with a community to try the program on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from surfaces import drafting, judging, watcher
from surfaces.errors import RuleBroken
from surfaces.hub import demo
from surfaces.models import Account, Message
from surfaces.models.draft import What


class Command(BaseCommand):
    help = "Make a demo community with one agent's account in it; --clear takes it away."

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
    if demo.is_made():
        return "The demo is here already."
    account = demo.make(now=timezone.now())
    watcher.round_of(account)
    drafts = sum(_draft(account, message, text) for message, text in demo.answers(account))
    messages = Message.objects.filter(account=account).count()
    return f"Made a demo: {messages} messages were read as {account.name}, {drafts} drafts wait."


def _draft(account: Account, message: Message, text: str) -> bool:
    """Put an answer before the operator, unless somebody answers already."""
    try:
        drafting.compose(
            account=account,
            what=What.REPLY,
            target=message,
            text=text,
            by=demo.ACTOR,
            now=timezone.now(),
        )
    except RuleBroken:
        return False
    return True


@transaction.atomic
def _clear() -> str:
    if not demo.is_made():
        return "There is no demo here."
    marked = Message.objects.filter(account__in=demo.accounts(), spam_decision__isnull=False)
    for message in marked:
        # What operators taught the filter on demo words is unlearned with them.
        judging.unmark(message, by=demo.ACTOR, now=timezone.now())
    try:
        demo.clear()
    except ProtectedError as error:
        kinds = {str(row._meta.verbose_name_plural) for row in error.protected_objects}
        why = f"Remove the demo's {', '.join(sorted(kinds))} first."
        raise CommandError(why, returncode=2) from error
    return "The demo is gone; its lines in the ledger stay."
