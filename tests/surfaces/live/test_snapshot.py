"""What the database says when the desk or a pause changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from surfaces.models import DeskItem, Message
from surfaces.pauses import services as pause_services
from tests.factories import make_account, make_message, make_post

pytestmark = pytest.mark.django_db(transaction=True)
Hears = Callable[[], list[str]]


@pytest.fixture
def hears() -> Iterator[Hears]:
    connection.ensure_connection()
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as ear:
        ear.execute("LISTEN colloquy")
        yield lambda: [note.payload for note in ear.notifies(timeout=0.3)]


def test_a_thousand_suspects_of_one_transaction_are_one_notice(hears):
    post = make_post()
    with transaction.atomic():
        Message.objects.bulk_create(
            Message(
                account=post.account, post=post, remote_id=f"c{number}", kind="comment",
                direction="incoming", author="a", content="x", created_at=timezone.now(),
                seen_at=timezone.now(), spam_status="suspect",
            )
            for number in range(1000)
        )  # fmt: skip
    assert hears() == ["desk"]
    assert DeskItem.objects.count() == 1000


def test_what_changes_nothing_on_the_desk_says_nothing(hears):
    message = make_message(account=make_account())
    message.author = "somebody else"
    message.save(update_fields=["author"])
    assert hears() == []


def test_what_was_put_off_is_news_and_what_was_written_anew_is_not(hears):
    make_message(spam_status="suspect")
    assert hears() == ["desk"]
    DeskItem.objects.update(words="other words")
    assert hears() == []
    DeskItem.objects.update(later_until=timezone.now())
    assert hears() == ["desk"]


def test_a_pause_and_its_end_are_notices(hears):
    pause_services.pause("all", why="odd", by="operator:mira", now=timezone.now())
    pause_services.resume("all", by="operator:mira", now=timezone.now())
    assert hears() == ["pause", "pause"]


def test_what_is_rolled_back_was_never_said(hears):
    with transaction.atomic():
        make_message(spam_status="suspect")
        transaction.set_rollback(True)
    assert hears() == []
