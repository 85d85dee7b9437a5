"""What a round hears on Moltbook, and what it costs, against a fake of both dialects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.types import KnownThread
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import NOON, pretend, reading


@pytest.fixture(params=["open", "live"])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield fake


@pytest.fixture
def server() -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect="open") as fake:
        yield fake


@pytest.fixture
def site() -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect="live") as fake:
        yield fake


def asked(fake: FakeMoltbook) -> list[str]:
    return [path.removeprefix("/api/v1") for _, path, _ in fake.requests]


# ── news ──────────────────────────────────────────────────────────────────


def known_of(fake: FakeMoltbook, *posts: str) -> dict[str, KnownThread]:
    now = datetime.now(UTC)
    return {post: KnownThread(fake.posts[post].comment_count, now) for post in posts}


def test_a_thread_whose_count_moved_has_news(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    quiet, busy = fake.add_post("iris", "quiet"), fake.add_post("iris", "busy")
    known = known_of(fake, quiet, busy)
    fake.add_comment(busy, "bob", "news")
    with reading(fake, key) as iris:
        news = iris.news(known, {})
    assert news.touched == (busy,)
    assert news.counts == {quiet: 0, busy: 1}
    assert news.unheard == ()


def test_when_nothing_happened_nothing_is_touched(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    fake.add_comment(post, "bob", "old news")
    with reading(fake, key) as iris:
        news = iris.news(known_of(fake, post), {})
    assert news.touched == ()


def test_a_thread_that_was_never_read_has_news(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    with reading(fake, key) as iris:
        news = iris.news({post: KnownThread(None, None), "unheard-of": KnownThread(None, None)}, {})
    assert set(news.touched) == {post, "unheard-of"}
    assert news.unheard == ()


def test_posts_of_ours_come_along(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    silent, talked = fake.add_post("iris", "silent"), fake.add_post("iris", "talked about")
    fake.add_comment(talked, "bob", "hm")
    with reading(fake, key) as iris:
        news = iris.news({}, {})
    assert {item.remote_id for item in news.posts} == {silent, talked}
    assert news.touched == (talked,)


def test_what_the_service_does_not_mention_is_unheard(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    known = known_of(fake, post) | {"far-away": KnownThread(3, NOON)}
    with reading(fake, key) as iris:
        assert iris.news(known, {}).unheard == ("far-away",)


def test_an_endpoint_that_is_missing_is_not_asked_again_for_a_day(server: FakeMoltbook):
    key, post = server.add_agent("iris"), server.add_post("iris")
    now = [datetime.now(UTC)]
    with reading(server, key, clock=lambda: now[0]) as iris:
        cursor = iris.news(known_of(server, post), {}).cursor
        assert "/home" in asked(server)
        server.requests.clear()
        cursor = iris.news(known_of(server, post), cursor).cursor
        assert not any("home" in path or "notifications" in path for path in asked(server))
        now[0] += timedelta(days=1, minutes=1)
        iris.news(known_of(server, post), cursor)
        assert "/home" in asked(server)


def test_a_reply_to_us_elsewhere_is_named_by_the_notifications(site: FakeMoltbook):
    key, post = site.add_agent("iris"), site.add_post("bob", "his own")
    ours = site.add_comment(post, "iris", "hello")
    for number in range(120):
        site.add_post("carol", f"noise {number}")
    site.add_comment(post, "carol", "hello to you", parent=ours)
    with reading(site, key) as iris:
        assert post in iris.news({}, {}).touched


def test_a_mention_in_a_thread_of_others_is_news_once(site: FakeMoltbook):
    key = site.add_agent("iris")
    named = site.add_post("bob", "elsewhere")
    site.add_comment(named, "bob", "What would @iris say?")
    with reading(site, key) as iris:
        first = iris.news({}, {})
        again = iris.news({}, first.cursor)
        site.add_comment(named, "carol", "Yes, @iris, what?")
        third = iris.news({}, again.cursor)
    assert (first.touched, again.touched, third.touched) == ((named,), (), (named,))


def test_names_without_end_do_not_fill_the_cursor():
    number = iter(range(10**6))

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/home"):
            times = ("2098-01-01T00:00:00Z", "2026-11-21T10:00:00Z")
            said = [{"post_id": f"p-{n}", "latest_at": times[n % 2]} for n in range(5000)]
            said = [entry | {"post_id": f"p-{next(number)}"} for entry in said]
            return httpx.Response(200, json={"activity_on_your_posts": said})
        return httpx.Response(200, json={"posts": [], "notifications": []})

    cursor: dict[str, object] = {}
    for _ in range(3):
        iris = Moltbook(pretend(answer))
        cursor = iris.news({}, cursor).cursor
        iris.close()
    assert len(str(cursor)) < 100_000


def test_without_unread_notifications_they_are_not_asked_for(site: FakeMoltbook):
    with reading(site, site.add_agent("iris")) as iris:
        iris.news({}, {})
    assert not any("notifications" in path for path in asked(site))


def test_what_home_repeats_is_not_read_again(site: FakeMoltbook):
    """A reader marks nothing as read, so /home names the same posts for ever."""
    key, post = site.add_agent("iris"), site.add_post("iris")
    site.add_comment(post, "bob", "hm")
    time.sleep(0.01)
    with reading(site, key) as iris:
        assert iris.news(known_of(site, post), {}).touched == ()
        site.add_comment(post, "bob", "hm again")
        assert iris.news(known_of(site, post) | {}, {}).unheard == ()


@pytest.mark.parametrize("fault", ["500-before", "400-array", "html-403", "text", "empty-object"])
def test_a_broken_home_does_not_stop_the_round(site: FakeMoltbook, fault: str):
    key, post = site.add_agent("iris"), site.add_post("iris")
    known = known_of(site, post)
    site.add_comment(post, "bob", "news")
    site.fault(fault, match="home|notifications", times=2)
    with reading(site, key) as iris:
        assert iris.news(known, {}).touched == (post,)


def test_a_list_that_ignores_the_author_is_filtered(site: FakeMoltbook):
    key = site.add_agent("iris")
    site.add_post("iris", "ours")
    site.add_post("bob", "his")
    site.fault("400-array", match="GET /posts$")
    with reading(site, key) as iris:
        assert [item.title for item in iris.news({}, {}).posts] == ["ours"]


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_a_round_over_a_thousand_posts_costs_at_most_thirty_requests(
    fake: FakeMoltbook, whose: str
):
    key = fake.add_agent("iris")
    author = "iris" if whose == "ours" else "bob"
    posts = [fake.add_post(author, f"post {number}") for number in range(1000)]
    known = known_of(fake, *posts)
    with_news = set(posts[::50])
    for post in with_news:
        fake.add_comment(post, "carol", "news")
    with reading(fake, key) as iris:
        news = iris.news(known, {})
    assert set(news.touched) == with_news
    assert not news.unheard
    assert len(fake.requests) <= 30


def test_lists_that_ignore_the_offset_end_all_the_same():
    calls = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        if not request.url.path.endswith("/posts"):
            return httpx.Response(404, json={"message": "Cannot GET"})
        rows = [{"id": str(number), "author": {"name": "iris"}} for number in range(100)]
        return httpx.Response(200, json={"posts": rows, "pagination": {"hasMore": True}})

    iris = Moltbook(pretend(answer))
    iris.news({"other": KnownThread(1, NOON)}, {})
    assert len(calls) < 8


# ── history ───────────────────────────────────────────────────────────────


def test_history_lists_all_our_posts_newest_first(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    for number in range(230):
        fake.add_post("iris" if number % 2 else "bob", f"post {number}")
    titles: list[str] = []
    cursor: str | None = None
    with reading(fake, key) as iris:
        for _ in range(10):
            page = iris.history(cursor)
            titles += [item.title for item in page.posts]
            cursor = page.cursor
            if cursor is None:
                break
    assert titles == [f"post {number}" for number in range(229, 0, -2)]
    assert cursor is None


def test_a_damaged_cursor_begins_again(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    fake.add_post("iris", "only")
    with reading(fake, key) as iris:
        assert [item.title for item in iris.history("garbage").posts] == ["only"]


def test_pages_shorter_than_asked_for_skip_nobody():
    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params.get("offset", "0"))
        rows = [{"id": str(n), "author": {"name": "iris"}} for n in range(offset, 90)][:40]
        return httpx.Response(200, json={"data": rows, "pagination": {"hasMore": False}})

    iris, seen, cursor = Moltbook(pretend(answer)), [], None
    for _ in range(4):
        page = iris.history(cursor)
        seen += [item.remote_id for item in page.posts]
        cursor = page.cursor
    assert seen == [str(number) for number in range(90)]
    assert cursor is None


def test_history_ends_where_the_offset_is_ignored():
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"data": [{"id": "1", "author": {"name": "iris"}}]})

    iris = Moltbook(pretend(answer))
    assert iris.history(iris.history(None).cursor).cursor is None
