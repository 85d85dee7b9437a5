"""What several communities show is one feed: newest first, bounded, and honest about failures."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from surfaces.adapters.feeds import MOST_COMMUNITIES, read_feed
from surfaces.adapters.types import Item, ItemKind
from surfaces.errors import Limited, NotThere, Refused, TryLater
from tests.factories import NOON

POST = Item(remote_id="p", kind=ItemKind.POST, post_id="p", author="bob", created_at=NOON)


def post(name: str, community: str = "sea", minutes: int = 0) -> Item:
    at = NOON + timedelta(minutes=minutes)
    return replace(POST, remote_id=name, post_id=name, community=community, created_at=at)


def test_posts_of_several_communities_come_newest_first_and_once():
    shown = {"sea": [post("a", minutes=1), post("b", minutes=3)], "": [post("b", minutes=3)]}
    feed = read_feed(lambda name, most: (shown[name], []), ["sea", "", "sea"], 10, spare=9)
    assert [item.remote_id for item in feed.posts] == ["b", "a"]


def test_a_service_that_ignores_the_community_shows_nothing_else():
    feed = read_feed(lambda name, most: ([post("a", "land"), post("b", "Sea")], []), ["sea"], 5,
                     spare=9)  # fmt: skip
    assert [item.remote_id for item in feed.posts] == ["b"]


def test_what_is_deleted_is_not_shown():
    gone = replace(post("a"), is_deleted=True)
    assert read_feed(lambda name, most: ([gone], []), [], 5, spare=9).posts == ()


def test_a_community_that_does_not_exist_is_skipped_and_the_others_are_read():
    def ask(name: str, most: int):
        if name == "none":
            raise NotThere("hub.status")
        return [post("a")], []

    feed = read_feed(ask, ["none", "sea"], 5, spare=9)
    assert [item.remote_id for item in feed.posts] == ["a"]
    assert [skipped.why.code for skipped in feed.skipped] == ["hub.status"]


@pytest.mark.parametrize("error", [TryLater("hub.no_object"), Refused("hub.status")])
def test_if_nothing_can_be_read_the_error_says_so(error: Exception):
    def ask(name: str, most: int):
        raise error

    with pytest.raises(type(error)):
        read_feed(ask, ["a", "b"], 5, spare=9)


def test_no_more_is_asked_after_the_service_named_a_limit():
    asked = []

    def ask(name: str, most: int):
        asked.append(name)
        raise Limited("account.rate_spent", wait=timedelta(minutes=1))

    with pytest.raises(Limited):
        read_feed(ask, ["a", "b"], 5, spare=9)
    assert asked == ["a"]


def test_requests_and_posts_are_bounded():
    asked = []

    def ask(name: str, most: int):
        asked.append(most)
        return [post(f"{name}{n}", community=name) for n in range(500)], []

    many = [f"c{n}" for n in range(1000)]
    assert len(read_feed(ask, many, 10**9, spare=10**6).posts) == 100
    assert asked == [100] * MOST_COMMUNITIES
    read_feed(ask, many, 5, spare=2)
    assert len(asked) == MOST_COMMUNITIES + 2


def test_nothing_is_asked_where_the_rate_limit_leaves_nothing_for_looking():
    with pytest.raises(Limited) as raised:
        read_feed(lambda name, most: 1 / 0, ["a"], 5, spare=0)
    assert not raised.value.asked
