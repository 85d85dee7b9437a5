"""Listening to the hub: nothing is missed, nothing is told twice, no answer is too long."""

from __future__ import annotations

from datetime import datetime
from threading import Barrier, Thread

import pytest
from django.db import connection, transaction

from surfaces.hub import community, listening
from surfaces.models import HubClock
from tests.factories import NOON
from tests.surfaces.hub.makers import fill, make_author, make_hub_post, say

pytestmark = pytest.mark.django_db


def test_unread_counts_what_others_wrote_since_one_looked():
    me, other = make_author(), make_author()
    post = make_hub_post(me)
    elsewhere = make_hub_post(other)
    first = say(post, other)
    say(post, other)
    say(post, me)
    say(elsewhere, other)
    assert listening.unread_counts(me) == {post.pk: 2}
    post.refresh_from_db()
    community.read(me, post, up_to=first.number)
    assert listening.unread_counts(me) == {post.pk: 1}
    community.read(me, post, up_to=99)
    community.read(me, post, up_to=1)
    assert listening.unread_counts(me) == {}
    say(elsewhere, me)
    assert listening.unread_counts(me) == {elsewhere.pk: 1}, "where I spoke concerns me, too"


def test_activity_tells_each_change_once():
    me, other = make_author(), make_author()
    post = make_hub_post(me)
    make_hub_post(other)
    seen = listening.activity(me, limit=10)
    assert seen.posts == (post,)
    assert listening.activity(me, after=seen.cursor, limit=10).posts == ()
    comment = say(post, other)
    for change in (
        lambda: community.edit(comment, author=other, content="The wind!", now=NOON),
        lambda: community.delete(comment, author=other, now=NOON),
        lambda: community.delete(post, author=me, now=NOON),
    ):
        change()
        seen = listening.activity(me, after=seen.cursor, limit=10)
        assert seen.posts == (post,)


def test_activity_comes_in_pages_without_a_gap():
    me = make_author()
    posts = [make_hub_post(me) for _ in range(5)]
    found, cursor, has_more = [], 0, True
    while has_more:
        page = listening.activity(me, after=cursor, limit=2)
        found += page.posts
        cursor, has_more = page.cursor, page.has_more
    assert found == posts


def test_a_cursor_from_before_a_restore_starts_over():
    me = make_author()
    post = make_hub_post(me)
    assert listening.activity(me, after=10**9, limit=10).posts == (post,)


@pytest.mark.django_db(transaction=True)
def test_a_change_that_commits_late_is_not_missed_by_a_reader_between():
    me = make_author()
    slow, fast = make_hub_post(me), make_hub_post(me)
    before = listening.activity(me, limit=10).cursor
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
    between = listening.activity(me, after=before, limit=10)
    may_commit.wait()
    first.join()
    second.join()
    after = listening.activity(me, after=between.cursor, limit=10)
    assert {*between.posts, *after.posts} == {slow, fast}
    assert HubClock.reads() == before + 2


def test_a_long_thread_comes_in_pages():
    post = make_hub_post()
    fill(post, comments=2001)
    sizes, after = [], 0
    while after is not None:
        page = listening.thread(post, after=after)
        sizes.append(len(page.comments))
        after = page.next_after
    assert sizes == [1000, 1000, 1]


def test_a_thread_of_long_comments_is_cut_before_it_outgrows_an_answer():
    post = make_hub_post()
    fill(post, comments=150, content="x" * 10_000)
    assert listening.thread(post).next_after == 100
    assert listening.thread(post, after=100).next_after is None


def test_search_finds_words_and_not_what_was_deleted(noon: datetime):
    author = make_author()
    wanted = make_hub_post(author, content="The sandbar had moved.")
    gone = make_hub_post(author, content="The sandbar was gone.")
    community.delete(gone, author=author, now=noon)
    assert list(listening.search("sandbar moved", limit=10)) == [wanted]
    assert list(listening.search("sandbar", author=author.name.upper(), limit=10)) == [wanted]
    assert list(listening.search("sandbar", community="elsewhere", limit=10)) == []


def test_discover_leaves_out_ones_own_and_what_one_answered():
    me, other = make_author(), make_author()
    make_hub_post(me)
    answered, open_still = make_hub_post(other), make_hub_post(other, content="A word on reefs.")
    say(answered, me)
    assert list(listening.discover(me, limit=10)) == [open_still]
    assert list(listening.discover(me, keywords=["reefs"], limit=10)) == [open_still]
    assert list(listening.discover(me, keywords=["oak"], limit=10)) == []
    everything = listening.discover(me, exclude_responded=False, limit=10)
    assert set(everything) == {answered, open_still}
