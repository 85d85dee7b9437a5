"""Among 2,000 posts by others nothing of ours is unseen, and the rate limit is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from surfaces.models import Account, Message, Surface
from surfaces.watcher.thread_selection import LEFT
from tests.surfaces.watcher.busy import Busy, busy

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture(params=["open", "live"])
def place(request: Any) -> Iterator[Busy]:
    with busy(request.param) as given:
        yield given


def is_rotation(path: str) -> bool:
    """Older pages of a list, and single posts."""
    return bool(re.search(r"offset=|cursor=|/posts/[^/?]+$", path))


def test_all_our_posts_are_found_within_half_an_hour_of_connecting(place: Busy):
    taken = place.rounds_until_found()
    print(f"{place.fake.world.dialect}: all {place.found()} posts found in round {taken}")
    assert taken <= 6
    assert place.refused() == 0


def test_a_comment_on_any_post_is_noticed_within_three_rounds(place: Busy):
    place.rounds_until_found()
    taken = [place.rounds_until_noticed(place.posts[n]) for n in (0, 100, 199, 200, 250, 299)]
    print(f"{place.fake.world.dialect}: rounds until noticed {taken}")
    print(f"{place.fake.world.dialect}: requests per round {place.counts}")
    assert max(taken) <= 3
    assert place.refused() == 0


def test_a_quiet_round_costs_five_requests_above_rotation_and_rotation_half_the_limit(place: Busy):
    place.rounds_until_found()
    for _ in range(3):
        place.round()
    place.fake.requests.clear()
    [done] = place.round()
    paths = [path for _, path, _ in place.fake.requests]
    rotation = [path for path in paths if is_rotation(path)]
    assert done.requests == len(paths)
    assert len(paths) - len(rotation) <= 5
    assert len(rotation) <= 50


@pytest.mark.parametrize("dialect", ["open", "live"])
def test_two_accounts_at_one_address_never_meet_a_refusal(dialect: str):
    with busy(dialect, ["iris", "otto"]) as place:
        for post in place.posts[:150]:
            place.fake.add_comment(post, "nightjar", f"What of {post[:8]}, and the moon?")
        for _ in range(8):
            done = place.round()
        print(f"{dialect}, two accounts: requests per round {place.counts}")
        assert place.refused() == 0
        assert [str(row.outcome) for row in done] == ["", ""]
        assert place.found() == len(place.posts)
        assert Message.objects.comments().count() == 150


def test_nothing_left_for_the_address_stops_the_other_account_where_no_limit_is_known():
    with busy("open", ["iris", "otto"]) as place:
        Surface.objects.update(limits={})
        for post in place.posts[:250]:
            place.fake.add_comment(post, "nightjar", f"What of {post[:8]}, and the moon?")
        for _ in range(3):
            place.round()
        assert place.refused() == 0


def test_posts_that_only_single_requests_reach_are_asked_in_turn():
    """Ten posts behind 2,000: asking for each costs less than walking the list."""
    with busy("open") as place:
        place.rounds_until_found()
        few = place.posts[:10]
        Message.objects.posts().exclude(remote_id__in=few).delete()
        for post in place.posts[10:]:
            place.fake.delete_post(post)
        for _ in range(2):
            place.round()
        assert max(place.rounds_until_noticed(post) for post in few[:3]) <= 3
        assert place.counts[-1] <= 5 + len(few) + 4


def test_a_first_look_that_the_limit_cut_short_goes_on_in_the_next_round():
    with busy("open") as place:
        surface = place.accounts[0].surface
        surface.limits = {"general": [20, 60]}
        surface.save(update_fields=["limits"])
        [done] = place.round()
        account = Account.objects.get(pk=place.accounts[0].pk)
        assert (str(done.outcome), account.state) == ("", "ok")
        assert account.is_first_look
        assert place.found() < len(place.posts)
        place.rounds_until_found(most=6)
        place.round()
        account.refresh_from_db()
        assert not account.is_first_look
        assert place.refused() == 0


def test_threads_that_the_limit_left_unread_wait_for_the_next_round():
    with busy("open") as place:
        for post in place.posts[:150]:
            place.fake.add_comment(post, "nightjar", f"What of {post[:8]}, and the moon?")
        [done] = place.round()
        account = Account.objects.get(pk=place.accounts[0].pk)
        assert (str(done.outcome), account.state) == ("", "ok")
        assert account.cursor[LEFT]
        for _ in range(5):
            place.round()
        assert Message.objects.comments().count() == 150


@pytest.mark.parametrize("place", ["live"], indirect=True)  # the other names no moments
def test_a_moment_far_ahead_is_news_once(place: Busy):
    place.rounds_until_found()
    post = place.posts[0]
    place.fake.add_comment(post, "nightjar", "What of the moon?")
    for told in place.fake.world.notifications["iris"]:
        told["at"] += timedelta(days=3650).total_seconds()
    place.fake.requests.clear()
    for _ in range(3):
        place.round()
    read = [path for _, path, _ in place.fake.requests if f"{post}/comments" in path]
    assert len(read) == 1
