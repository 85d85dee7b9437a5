"""Listening to the hub: nothing is missed, nothing is told twice, no answer is too long."""

from __future__ import annotations

from datetime import datetime
from threading import Barrier, Thread

import pytest
from django.db import connection, transaction

from surfaces.hub import queries as hub_queries
from surfaces.hub import services as hub_services
from surfaces.models import HubClock
from tests.factories import NOON
from tests.surfaces.hub.factories import fill, make_author, make_hub_post, say

pytestmark = pytest.mark.django_db


def test_unread_counts_what_others_wrote_since_one_looked():
    me, other = make_author(), make_author()
    post = make_hub_post(me)
    elsewhere = make_hub_post(other)
    first = say(post, other)
    say(post, other)
    say(post, me)
    say(elsewhere, other)
    assert hub_queries.unread_counts(me) == {post.pk: 2}
    post.refresh_from_db()
    hub_services.read(me, post, up_to=first.number)
    assert hub_queries.unread_counts(me) == {post.pk: 1}
    hub_services.read(me, post, up_to=99)
    hub_services.read(me, post, up_to=1)
    assert hub_queries.unread_counts(me) == {}
    say(elsewhere, me)
    assert hub_queries.unread_counts(me) == {elsewhere.pk: 1}, "where I spoke concerns me, too"


def test_activity_tells_each_change_once():
    me, other = make_author(), make_author()
    post = make_hub_post(me)
    make_hub_post(other)
    seen = hub_queries.activity(me, limit=10)
    assert seen.posts == (post,)
    assert hub_queries.activity(me, after=seen.cursor, limit=10).posts == ()
    comment = say(post, other)
    for change in (
        lambda: hub_services.edit(comment, author=other, content="The wind!", now=NOON),
        lambda: hub_services.delete(comment, author=other, now=NOON),
        lambda: hub_services.delete(post, author=me, now=NOON),
    ):
        change()
        seen = hub_queries.activity(me, after=seen.cursor, limit=10)
        assert seen.posts == (post,)


def test_activity_comes_in_pages_without_a_gap():
    me = make_author()
    posts = [make_hub_post(me) for _ in range(5)]
    found, cursor, has_more = [], 0, True
    while has_more:
        page = hub_queries.activity(me, after=cursor, limit=2)
        found += page.posts
        cursor, has_more = page.cursor, page.has_more
    assert found == posts


def test_a_cursor_from_before_a_restore_starts_over():
    me = make_author()
    post = make_hub_post(me)
    assert hub_queries.activity(me, after=10**9, limit=10).posts == (post,)


@pytest.mark.django_db(transaction=True)
def test_a_change_that_commits_late_is_not_missed_by_a_reader_between():
    me = make_author()
    slow, fast = make_hub_post(me), make_hub_post(me)
    before = hub_queries.activity(me, limit=10).cursor
    holds, may_commit = Barrier(2), Barrier(2)

    def write_slowly() -> None:
        with transaction.atomic():
            say(slow, me)
            holds.wait()
            may_commit.wait()
        connection.close()

    def write_meanwhile() -> None:
        say(fast, me)
        connection.close()

    first = Thread(target=write_slowly)
    first.start()
    holds.wait()
    second = Thread(target=write_meanwhile)
    second.start()
    between = hub_queries.activity(me, after=before, limit=10)
    may_commit.wait()
    first.join()
    second.join()
    after = hub_queries.activity(me, after=between.cursor, limit=10)
    assert {*between.posts, *after.posts} == {slow, fast}
    assert HubClock.reads() == before + 2


def test_a_long_thread_comes_in_pages():
    post = make_hub_post()
    fill(post, comments=2001)
    sizes, after = [], 0
    while after is not None:
        page = hub_queries.thread(post, after=after)
        sizes.append(len(page.comments))
        after = page.next_after
    assert sizes == [1000, 1000, 1]


def test_a_thread_of_long_comments_is_cut_before_it_outgrows_an_answer():
    post = make_hub_post()
    fill(post, comments=150, content="x" * 10_000)
    assert hub_queries.thread(post).next_after == 100
    assert hub_queries.thread(post, after=100).next_after is None


def test_search_finds_words_and_not_what_was_deleted(noon: datetime):
    author = make_author()
    wanted = make_hub_post(author, content="The sandbar had moved.")
    gone = make_hub_post(author, content="The sandbar was gone.")
    hub_services.delete(gone, author=author, now=noon)
    assert list(hub_queries.search("sandbar moved", limit=10)) == [wanted]
    assert list(hub_queries.search("sandbar", author=author.name.upper(), limit=10)) == [wanted]
    assert list(hub_queries.search("sandbar", community="elsewhere", limit=10)) == []


def test_discover_leaves_out_ones_own_and_what_one_answered():
    me, other = make_author(), make_author()
    make_hub_post(me)
    answered, open_still = make_hub_post(other), make_hub_post(other, content="A word on reefs.")
    say(answered, me)
    assert list(hub_queries.discover(me, limit=10)) == [open_still]
    assert list(hub_queries.discover(me, keywords=["reefs"], limit=10)) == [open_still]
    assert list(hub_queries.discover(me, keywords=["oak"], limit=10)) == []
    everything = hub_queries.discover(me, exclude_responded=False, limit=10)
    assert set(everything) == {answered, open_still}
