"""The demo, made and cleared by its command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO

from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from config.postgres.base import as_owner
from dialogue.inbox import collect
from dialogue.models import Agent, AgentSettings, Kernel, Notification, Presence
from dialogue.replies.loop import answer_due
from surfaces.models import Account, Draft, Message, Surface

TABLES = (Agent, AgentSettings, Presence, Kernel, Notification, Draft, Account, Surface, Message)


def run_demo(*words: str) -> str:
    out = StringIO()
    call_command("demo", *words, stdout=out)
    return out.getvalue().strip()


def answer_now(minutes: int = 0) -> None:
    """What the replier does, so many minutes from now."""
    now = timezone.now() + timedelta(minutes=minutes)
    collect.collect(now=now)
    answer_due("desk:1", clock=lambda: now)


def contents() -> dict[str, int]:
    return {table.__name__: table.objects.count() for table in TABLES}


@contextmanager
def without_guards() -> Iterator[None]:
    """What the owner of the tables does meanwhile meets no trigger."""
    with as_owner(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
