"""The hub's adapter, against the real hub in this process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection

from surfaces.adapters import READERS
from surfaces.adapters.base import Access
from surfaces.adapters.hub import Hub
from surfaces.adapters.hub.writer import HubWriter
from surfaces.adapters.types import CannotTell, FoundItem, ItemKind, KnownThread, NotFound
from surfaces.adapters.writers import WRITERS
from surfaces.errors import Limited, NotThere, Refused, TryLater, Unconfirmed
from surfaces.hub import services as hub_services
from surfaces.hub.transport import HubTransport
from surfaces.models import HubComment, HubPost
from tests.factories import NOON
from tests.surfaces.hub.factories import fill

Answer = Callable[[httpx.Request], httpx.Response]


def access_of(name: str) -> Access:
    author, key = hub_services.join(name=name, is_bot=True, now=NOON)
    transport = HubTransport(clock=lambda: NOON)
    return Access(token=key, handle=name, remote_id=author.name, transport=transport)


def counting(answers: list[httpx.Request], transport: httpx.BaseTransport) -> Answer:
    def answer(request: httpx.Request) -> httpx.Response:
        answers.append(request)
        return transport.handle_request(request)

    return answer


@pytest.mark.django_db
def test_what_is_written_through_the_adapter_is_read_through_it():
    us, them = access_of("iris"), access_of("odile")
    post = HubWriter(us).create_post(title="On tides", text="What?", community="", key="p")
    comment = HubWriter(them).reply(
        post_id=post.remote_id, parent_id=None, text="The wind.", key="c"
    )
    answer = HubWriter(us).reply(
        post_id=post.remote_id, parent_id=comment.remote_id, text="And then?", key="a"
    )
    thread = Hub(us).thread(post.remote_id)
    assert thread.is_complete
    assert thread.root
    assert (thread.root.title, thread.root.is_ours, thread.root.comment_count) == (
        "On tides",
        True,
        2,
    )
    first, second = thread.comments
    assert (first.remote_id, first.parent_id, first.is_ours) == (comment.remote_id, None, False)
    assert (second.remote_id, second.parent_id) == (answer.remote_id, comment.remote_id)
    assert (second.is_ours, second.author_is_bot, second.created_at) == (True, True, NOON)
    assert Hub(us).who_am_i().handle == "iris"


@pytest.mark.django_db
def test_sending_twice_under_one_key_says_it_once():
    us = access_of("iris")
    post = HubWriter(us).create_post(title="On tides", text="What?", community="", key="p")
    said = {"post_id": post.remote_id, "parent_id": None, "text": "Again.", "key": "k"}
    first, second = HubWriter(us).reply(**said), HubWriter(us).reply(**said)
    assert first.remote_id == second.remote_id
    assert HubComment.objects.count() == 1


@pytest.mark.django_db
def test_news_is_one_request_however_many_threads_are_known():
    us, them = access_of("iris"), access_of("odile")
    posts = [
        HubWriter(us).create_post(title=f"Post {n}", text="What?", community="", key=f"{n}")
        for n in range(30)
    ]
    asked: list[httpx.Request] = []
    assert us.transport
    counted = httpx.MockTransport(counting(asked, us.transport))
    hub = Hub(Access(token=us.token, handle="iris", remote_id="iris", transport=counted))
    seen = hub.news({}, {})
    assert len(seen.touched) == 30
    HubWriter(them).reply(post_id=posts[7].remote_id, parent_id=None, text="Hello.", key="h")
    asked.clear()
    known = {post.remote_id: KnownThread(0, NOON) for post in posts}
    news = hub.news(known, seen.cursor)
    assert news.touched == (posts[7].remote_id,)
    assert news.counts == {posts[7].remote_id: 1}
    assert len(asked) == 1
    assert hub.news(known, news.cursor).touched == ()


@pytest.mark.django_db
def test_a_deleted_post_is_news_and_then_gone():
    us = access_of("iris")
    post = HubWriter(us).create_post(title="On tides", text="What?", community="", key="p")
    cursor = Hub(us).news({}, {}).cursor
    for _ in range(2):
        HubWriter(us).delete(kind=ItemKind.POST, remote_id=post.remote_id)
    news = Hub(us).news({post.remote_id: KnownThread(0, NOON)}, cursor)
    assert (news.touched, news.posts) == ((post.remote_id,), ())
    assert Hub(us).thread(post.remote_id).is_gone


@pytest.mark.django_db
def test_an_own_reply_is_found_where_it_stands_and_nowhere_else():
    us = access_of("iris")
    post = HubWriter(us).create_post(title="On tides", text="What?", community="", key="p")
    post_id = post.remote_id
    first = HubWriter(us).reply(post_id=post_id, parent_id=None, text="  One.\n", key="1")
    looked = {"post_id": post_id, "parent_id": None, "text": "  One.\n", "since": NOON}
    found = Hub(us).find_own_reply(**looked)
    assert isinstance(found, FoundItem)
    assert found.item.remote_id == first.remote_id
    elsewhere = looked | {"parent_id": first.remote_id}
    assert isinstance(Hub(us).find_own_reply(**elsewhere), NotFound)
    later = looked | {"since": NOON + timedelta(hours=1)}
    assert isinstance(Hub(us).find_own_reply(**later), NotFound)


def hub_that_answers(*comments: dict[str, Any]) -> Hub:
    by = {"author": {"id": "7", "name": "iris"}, "created_at": NOON.isoformat()}
    post = by | {"id": "p", "title": "On tides", "content": "What?", "comment_count": len(comments)}
    said = post | {"comments": [by | row for row in comments]}
    wire = httpx.MockTransport(lambda _request: httpx.Response(200, json=said))
    given = {"handle": "iris", "remote_id": "7", "transport": wire, "clock": lambda: NOON}
    return Hub(Access(token="hub_1", base_url="http://127.0.0.1:9/api/hub/v1", **given))


def test_an_own_reply_whose_parent_is_left_out_is_not_called_absent():
    looked = {"post_id": "p", "parent_id": "c1", "text": "One two.", "since": NOON}
    loose = {"id": "c2", "content": "One two."}
    assert isinstance(hub_that_answers(loose).find_own_reply(**looked), CannotTell)
    placed = loose | {"parent_id": "c1", "content": "One  two."}
    assert isinstance(hub_that_answers(placed).find_own_reply(**looked), FoundItem)


@pytest.mark.django_db
def test_an_own_post_is_found_by_title_and_text():
    us = access_of("iris")
    post = HubWriter(us).create_post(title="On  tides", text="What?", community="", key="p")
    found = Hub(us).find_own_post(title="On  tides", text="What?", since=NOON)
    assert isinstance(found, FoundItem)
    assert found.item.remote_id == post.remote_id
    assert isinstance(Hub(us).find_own_post(title="On tides", text="Who?", since=NOON), NotFound)
    assert Hub(us).history(None).posts[0].remote_id == post.remote_id


@pytest.mark.django_db
def test_an_answer_too_deep_or_to_nothing_is_refused_for_ever():
    us = access_of("iris")
    writer = HubWriter(us)
    post_id = writer.create_post(title="On tides", text="What?", community="", key="p").remote_id
    above: str | None = None
    for depth in range(11):
        said = writer.reply(post_id=post_id, parent_id=above, text="On.", key=f"{depth}")
        above = said.remote_id
    with pytest.raises(Refused, match="10 levels deep") as refused:
        writer.reply(post_id=post_id, parent_id=above, text="On.", key="last")
    assert refused.value.permanent
    with pytest.raises(NotThere):
        writer.reply(post_id=post_id, parent_id="c999999", text="On.", key="none")


@pytest.mark.django_db
def test_a_key_never_leaves_for_another_host():
    us = access_of("iris")
    astray = Access(token=us.token, base_url="https://hub.example/api/v1", transport=us.transport)
    with pytest.raises(TryLater) as error:
        Hub(astray).who_am_i()
    assert not error.value.asked


@pytest.mark.django_db
def test_a_thread_longer_than_one_answer_is_read_whole():
    us = access_of("iris")
    post_id = HubWriter(us).create_post(title="x", text="x", community="", key="p").remote_id
    fill(HubPost.objects.get(), comments=1005)
    thread = Hub(us).thread(post_id)
    assert [item.content for item in thread.comments] == [str(n) for n in range(1, 1006)]
    assert thread.is_complete


def test_both_halves_are_in_the_written_out_lists():
    assert READERS["hub"] is Hub
    assert WRITERS["hub"] is HubWriter


@pytest.mark.django_db
def test_a_database_that_fails_is_a_doubt_for_writing():
    us = access_of("iris")
    post = HubWriter(us).create_post(title="x", text="x", community="", key="p")
    with connection.cursor() as cursor:
        # Found before the real one, and without its columns.
        cursor.execute("CREATE TEMPORARY TABLE surfaces_hubcomment () ON COMMIT DROP")
    with pytest.raises(Unconfirmed):
        HubWriter(us).reply(post_id=post.remote_id, parent_id=None, text="x", key="k")


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("99999999999", timedelta(days=1)),
        ("-5", timedelta(minutes=1)),
        ("soon", timedelta(minutes=1)),
    ],
)
def test_no_hub_silences_an_account_for_longer_than_a_day(said: str, wait: timedelta):
    answer = httpx.Response(429, headers={"Retry-After": said}, json={"error": "Too many."})
    access = Access(token="hub_x", transport=httpx.MockTransport(lambda request: answer))
    reader = Hub(access)
    with pytest.raises(Limited) as raised:
        reader.who_am_i()
    assert raised.value.wait == wait


def test_a_page_of_a_proxy_does_not_say_that_a_thread_is_gone():
    answer = httpx.Response(404, html="<p>Not Found</p>")
    access = Access(token="hub_x", transport=httpx.MockTransport(lambda _: answer))
    with pytest.raises(TryLater):
        Hub(access).thread("1")


# ── the feed and the search ───────────────────────────────────────────────


@pytest.mark.django_db
def test_the_feed_shows_the_newest_posts_of_the_communities_asked_for():
    us, them = access_of("iris"), access_of("odile")
    for slug in ("sea", "land"):
        hub_services.open_community(slug=slug, now=NOON)
        for number in range(2):
            HubWriter(them).create_post(
                title=f"{slug} {number}", text="Words.", community=slug, key=f"{slug}{number}"
            )
    assert len(Hub(us).feed([], 3).posts) == 3
    at_sea = Hub(us).feed(["sea", "nowhere"], 10).posts
    assert {item.title for item in at_sea} == {"sea 0", "sea 1"}
    assert at_sea[0].raw["content"] == "Words."


@pytest.mark.django_db
def test_the_hub_is_searched_by_words_community_and_author():
    us, them = access_of("iris"), access_of("odile")
    HubWriter(them).create_post(title="On tides", text="Salt water.", community="", key="1")
    HubWriter(us).create_post(title="On wind", text="Salt air.", community="", key="2")
    found = Hub(us).search("salt", limit=10).posts
    assert {item.title for item in found} == {"On tides", "On wind"}
    assert [i.title for i in Hub(us).search("salt", author="odile", limit=5).posts] == ["On tides"]
    assert Hub(us).search("salt", community="nowhere", limit=5).posts == ()


def test_a_hub_that_lists_nothing_readable_is_tried_later():
    wire = httpx.MockTransport(lambda request: httpx.Response(200, json={"posts": None}))
    with pytest.raises(TryLater):
        Hub(Access(token="k", transport=wire)).feed([], 10)
