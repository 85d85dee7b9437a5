"""What was not read whole is said on the thread's page and on the account's."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from surfaces.models import Account, Message, ReadingPlace
from tests.factories import make_account, make_message, make_operator, make_post
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.watcher.factories import connected, look

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator())
    return client


def said(desk: Client, url: str) -> str:
    return " ".join(desk.get(url).content.decode().split())


def thread_page(desk: Client, post: Message) -> str:
    return said(desk, f"/threads/{post.pk}/")


def account_page(desk: Client, account: Account) -> str:
    return said(desk, f"/accounts/{account.pk}/")


def test_a_thread_that_the_service_cuts_says_how_much_could_be_read(desk: Client):
    with FakeMoltbook(dialect="open") as fake:
        fake.key = fake.add_agent("iris")
        account, post = connected(fake), fake.add_post("iris", "On tides")
        first = fake.add_comment(post, "bob", "root 0")
        for number in range(1, 520):
            fake.add_comment(post, "bob", f"root {number}")
        for number in range(30):
            fake.add_comment(post, "bob", f"under it {number}", parent=first)
        look(account)
    row = Message.objects.get(remote_id=post)
    page = thread_page(desk, row)
    assert "520 of 550 comments could be read" in page
    assert "Last read in full" not in page
    of_account = account_page(desk, account)
    assert "Threads that the service does not show in full: 1." in of_account
    assert f'href="/threads/{row.pk}/"' in of_account


def test_a_thread_that_was_read_whole_says_nothing_of_it(desk: Client):
    post = make_post(thread_read_at=timezone.now(), thread_is_whole=True, comment_count=1)
    make_message(post=post)
    assert "could be read" not in thread_page(desk, post)
    assert "Not everything is read" not in account_page(desk, post.account)


def test_a_cut_thread_without_a_count_says_that_more_may_exist(desk: Client):
    post = make_post(thread_read_at=timezone.now(), thread_is_whole=False)
    assert "more comments may exist" in thread_page(desk, post)


def test_a_first_look_under_way_is_said_until_it_is_over(desk: Client):
    gap: dict[str, Any] = {"place": "300 a", "until": []}
    walks = {"all": {"gaps": [gap], "rows": 1200}}
    account = make_account(cursor={"walks": walks, "left": ["a", "b"]})
    page = account_page(desk, account)
    assert "0 posts of this account found so far, 1,200 older posts checked" in page
    assert "Threads with news that wait for the next poll: 2." in page
    Account.objects.update(cursor={"walks": {"all": {"gaps": []}}, "left": []})
    assert "Not everything is read" not in account_page(desk, account)


def test_a_backfill_that_was_stopped_is_said(desk: Client):
    place = ReadingPlace.objects.create(account=make_account(), started_at=timezone.now(), posts=49)
    assert "A backfill has read 49 posts" in account_page(desk, place.account)
    ReadingPlace.objects.update(ended_at=timezone.now())
    assert "A backfill" not in account_page(desk, place.account)
