"""The hub's adapter, against a hub that is broken, or lies."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from surfaces.adapters.base import Access
from surfaces.adapters.hub import Hub
from surfaces.adapters.hub.writer import HubWriter
from surfaces.adapters.types import CannotTell
from surfaces.errors import AuthFailed, Limited, NotThere, Refused, TryLater, Unconfirmed
from tests.factories import NOON

Answer = Callable[[httpx.Request], httpx.Response]
WRITTEN = {"created_at": NOON.isoformat(), "author": {"id": "odile", "name": "odile"}}


def hub_that(answer: Answer) -> Hub:
    return Hub(_access_to(answer))


def writer_that(answer: Answer) -> HubWriter:
    return HubWriter(_access_to(answer))


def _access_to(answer: Answer) -> Access:
    return Access(
        token="key", handle="iris", remote_id="iris", transport=httpx.MockTransport(answer)
    )


def says(data: Any, status: int = 200, **headers: str) -> Answer:
    body = json.dumps(data).encode()
    return lambda request: httpx.Response(status, content=body, headers=headers)


@pytest.mark.parametrize(
    ("status", "reading", "writing"),
    [
        (401, AuthFailed, AuthFailed),
        (403, Refused, Refused),
        (404, NotThere, NotThere),
        (409, Refused, Refused),
        (422, Refused, Refused),
        (429, Limited, Limited),
        (500, TryLater, Unconfirmed),
        (503, TryLater, Unconfirmed),
        (302, Refused, Unconfirmed),
    ],
)
def test_every_status_says_what_to_do_next(
    status: int, reading: type[Exception], writing: type[Exception]
):
    broken = says({"error": "No."}, status, location="https://elsewhere.example")
    with pytest.raises(reading):
        hub_that(broken).who_am_i()
    with pytest.raises(writing):
        writer_that(broken).reply(post_id="p1", parent_id=None, text="x", key="k")


@pytest.mark.parametrize("data", [None, [], "ok", 7, {}, {"id": None}, {"id": True}])
def test_a_success_that_names_nothing_is_unconfirmed(data: Any):
    with pytest.raises(Unconfirmed):
        writer_that(says(data, 201)).reply(post_id="p1", parent_id=None, text="x", key="k")


def test_a_waiting_time_that_is_named_is_heard():
    with pytest.raises(Limited) as error:
        hub_that(says({}, 429, **{"retry-after": "90"})).who_am_i()
    assert error.value.wait == timedelta(seconds=90)


def test_the_key_of_an_intent_travels_with_it():
    heard: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(request)
        return httpx.Response(201, json={"id": "c1"})

    writer_that(answer).reply(post_id="p/1", parent_id="c0", text="x", key="the-key")
    assert heard[0].headers["idempotency-key"] == "the-key"
    assert heard[0].headers["authorization"] == "Bearer key"
    assert heard[0].url.raw_path == b"/api/v1/posts/p%2F1/comments"


BAD_ITEMS = [None, 7, "c1", [], {}, {"id": "c1"}, {"id": "c2", "created_at": "yesterday"},
             {"id": "c3", "created_at": NOON.isoformat(), "author": None},
             {"id": "c4", "created_at": NOON.isoformat(), "author": {"name": 5}},
             {"id": {}, **WRITTEN}]  # fmt: skip


def test_broken_items_are_skipped_with_a_reason_and_the_rest_is_read():
    good = {"id": "c9", "content": "a\x00b\ud800", "parent_id": {"no": 1}, **WRITTEN}
    root = {"id": "p1", **WRITTEN, "comments": [*BAD_ITEMS, good], "comment_count": 11}
    thread = hub_that(says(root)).thread("p1")
    assert [item.remote_id for item in thread.comments] == ["c9"]
    assert thread.comments[0].content == "a\ufffdb\ufffd"
    assert len(thread.skipped) == len(BAD_ITEMS)
    assert all(skipped.why for skipped in thread.skipped)


@pytest.mark.parametrize("threads", [None, "x", 7, {}, BAD_ITEMS])
def test_broken_news_is_no_reason_to_stop(threads: Any):
    answer = says({"threads": threads, "cursor": ["x"], "has_more": "yes"})
    news = hub_that(answer).news({}, {"after": {"odd": 1}})
    assert news.posts == ()
    assert news.cursor == {"after": "0"}


def test_a_thread_whose_news_cannot_be_read_is_looked_at_all_the_same():
    news = hub_that(says({"threads": [{"id": "p1"}], "cursor": "5"})).news({}, {})
    assert news.touched == ("p1",)


def test_pages_without_an_end_are_left_at_some_point():
    asked: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(1)
        said = {"id": "p1", **WRITTEN, "comments": [], "next_after": len(asked)}
        said |= {"threads": [], "cursor": str(len(asked)), "has_more": True}
        said |= {"posts": [], "next_before": f"p{len(asked)}"}
        return httpx.Response(200, json=said)

    hub = hub_that(answer)
    hub.news({}, {})
    assert not hub.thread("p1").is_complete
    assert isinstance(hub.find_own_post(title="x", text="x", since=NOON), CannotTell)
    assert len(asked) < 200


def test_parents_come_before_children_and_circles_are_left_out():
    def comment(name: str, parent: str) -> dict[str, Any]:
        return {"id": name, "parent_id": parent, "content": name, **WRITTEN}

    comments = [
        comment("c3", "c2"),
        comment("c2", "c1"),
        comment("c1", "p1"),
        comment("c1", "p1"),
        comment("c5", "c6"),
        comment("c6", "c5"),
        comment("c7", "c7"),
        comment("c8", "unknown"),
    ]
    root = {"id": "p1", **WRITTEN, "comments": comments, "comment_count": 8}
    thread = hub_that(says(root)).thread("p1")
    names = [item.remote_id for item in thread.comments]
    assert names[:3] == ["c1", "c2", "c3"]
    assert len(names) == len(set(names))
    assert {"c7", "c8"} <= set(names)
    assert [skipped.remote_id for skipped in thread.skipped] == ["c5"]


def test_a_list_that_is_shorter_than_its_count_proves_nothing():
    root = {"id": "p1", **WRITTEN, "comments": [], "comment_count": 3}
    hub = hub_that(says(root))
    assert not hub.thread("p1").is_complete
    looked = hub.find_own_reply(post_id="p1", parent_id=None, text="x", since=NOON)
    assert isinstance(looked, CannotTell)


def test_another_post_than_we_asked_for_is_not_taken_for_it():
    with pytest.raises(TryLater, match="another post"):
        hub_that(says({"id": "p2", **WRITTEN, "comments": []})).thread("p1")


def test_a_key_with_a_line_break_is_refused_before_it_is_sent():
    with pytest.raises(ValueError, match="has characters that no key has"):
        Hub(Access(token="a\nb"))
