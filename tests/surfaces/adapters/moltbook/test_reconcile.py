"""Looking on Moltbook whether we already spoke, against a fake of both dialects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.types import CannotTell, FoundItem, KnownThread, NotFound
from surfaces.errors import SurfaceError, TryLater
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import LONG_AGO, NOON, reading

# Not those that change our words or ids: then it really is not there any more.
SPOILERS = (
    "broken-json",
    "wrong-types",
    "odd-times",
    "empty-object",
    "not-a-list",
    "deep",
    "500-after",
    "html-403",
    "html-404",
    "429-bare",
    "redirect",
    "text",
    "reset-before",
    "truncate",
)


@pytest.fixture(params=["open", "live"])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield fake


@pytest.fixture
def server() -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect="open") as fake:
        yield fake


# ── did we already speak? ─────────────────────────────────────────────────


def look(reader: Moltbook, post: str, parent: str | None, text: str, since: datetime = LONG_AGO):
    return reader.find_own_reply(post_id=post, parent_id=parent, text=text, since=since)


def test_our_reply_is_found_under_its_parent(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above = fake.add_comment(post, "bob", "why?")
    ours = fake.add_comment(post, "iris", "because", parent=above)
    with reading(fake, key) as iris:
        found = look(iris, post, above, "  because\n")
        assert isinstance(found, FoundItem)
        assert found.item.remote_id == ours
        assert look(iris, post, None, "because") == NotFound()
        assert look(iris, post, above, "because not") == NotFound()


def test_the_same_words_of_another_are_not_ours(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above = fake.add_comment(post, "bob", "why?")
    fake.add_comment(post, "carol", "because", parent=above)
    with reading(fake, key) as iris:
        assert look(iris, post, above, "because") == NotFound()


def test_our_reply_is_found_although_it_was_escaped(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.add_comment(post, "iris", "you &amp; me &lt;3")
    with reading(fake, key) as iris:
        assert isinstance(look(iris, post, None, "you & me <3"), FoundItem)


@pytest.mark.parametrize("fault", ["null-author", "no-parent"])
def test_a_reply_that_could_be_ours_is_never_called_absent(fake: FakeMoltbook, fault: str):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above = fake.add_comment(post, "bob", "why?")
    fake.add_comment(post, "iris", "because of the tide", parent=above)
    with reading(fake, key) as iris:
        iris.who_am_i()
        fake.fault(fault, match="GET .*comments", times=2)
        assert isinstance(look(iris, post, above, "because of the tide"), CannotTell)


def test_our_reply_is_found_although_its_spaces_were_doubled(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.add_comment(post, "iris", "because of the tide")
    with reading(fake, key) as iris:
        iris.who_am_i()
        fake.fault("double-space", match="GET .*comments", times=2)
        assert isinstance(look(iris, post, None, "because of  the\ntide"), FoundItem)


def test_a_deleted_reply_without_an_author_may_have_been_ours(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.delete_comment(fake.add_comment(post, "iris", "because"))
    with reading(fake, key) as iris:
        iris.who_am_i()
        fake.fault("null-author", match="GET .*comments", times=2)
        assert isinstance(look(iris, post, None, "because"), CannotTell)


def test_a_post_that_could_be_ours_is_never_called_absent(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    fake.add_post("iris", "On tides", "They come.")
    with reading(fake, key) as iris:
        iris.who_am_i()
        fake.fault("null-author", match="GET /posts", times=2)
        found = iris.find_own_post(title="On tides", text="They come.", since=LONG_AGO)
        assert isinstance(found, CannotTell)
        fake.clear_faults()
        fake.fault("double-space", match="GET /posts")
        found = iris.find_own_post(title="On  tides", text="They come.", since=LONG_AGO)
        assert isinstance(found, FoundItem)


def test_one_post_with_a_wrong_date_does_not_end_the_search(server: FakeMoltbook):
    key = server.add_agent("iris")
    server.add_post("iris", "On tides", "They come.")
    for number in range(100):
        server.add_post("bob", f"post {number}")
    oldest_on_page = list(server.posts.values())[1]
    oldest_on_page.created_at = 800_000_000.0  # 1995
    with reading(server, key) as iris:
        recently = datetime.now(UTC) - timedelta(hours=1)
        found = iris.find_own_post(title="On tides", text="They come.", since=recently)
    assert isinstance(found, FoundItem)


def test_a_truncated_list_proves_nothing(server: FakeMoltbook):
    key, post = server.add_agent("iris"), server.add_post("bob")
    above = server.add_comment(post, "bob", "root")
    server.add_comment(post, "iris", "because", parent=above)
    for number in range(505):
        server.add_comment(post, "bob", f"root {number}")
    with reading(server, key) as iris:
        assert isinstance(look(iris, post, above, "because"), CannotTell)


def test_what_is_seen_in_a_truncated_list_is_still_there(server: FakeMoltbook):
    key, post = server.add_agent("iris"), server.add_post("bob")
    for number in range(505):
        server.add_comment(post, "bob", f"root {number}")
    server.add_comment(post, "iris", "because")
    with reading(server, key) as iris:
        assert isinstance(look(iris, post, None, "because"), FoundItem)


def test_a_list_with_unreadable_items_proves_nothing(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.add_comment(post, "iris", "because")
    fake.fault("wrong-types", match="comments")
    with reading(fake, key) as iris:
        assert isinstance(look(iris, post, None, "because"), CannotTell)


def test_a_reply_of_ours_that_was_deleted_since_is_not_said_again(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.delete_comment(fake.add_comment(post, "iris", "because"))
    with reading(fake, key) as iris:
        assert isinstance(look(iris, post, None, "because"), CannotTell)
        later = datetime.now(UTC) + timedelta(hours=1)
        assert look(iris, post, None, "because", later) == NotFound()


def test_in_a_thread_that_is_gone_our_reply_is_gone(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.delete_post(post)
    with reading(fake, key) as iris:
        assert look(iris, post, None, "because") == NotFound()


def test_a_failing_look_is_no_answer(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.fault("500-before", match="comments")
    with reading(fake, key) as iris, pytest.raises(TryLater):
        look(iris, post, None, "because")


def test_our_post_is_found_among_everybodys(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    ours = fake.add_post("iris", "On tides", "They come.")
    for number in range(130):
        fake.add_post("bob", f"post {number}")
    with reading(fake, key) as iris:
        found = iris.find_own_post(title=" On tides ", text="They come.", since=LONG_AGO)
        assert isinstance(found, FoundItem)
        assert found.item.remote_id == ours
        assert iris.find_own_post(title="On tides", text="They go.", since=LONG_AGO) == NotFound()
        assert iris.find_own_post(title="Tides", text="They come.", since=LONG_AGO) == NotFound()


def test_a_list_of_posts_that_is_too_long_proves_nothing(server: FakeMoltbook):
    key = server.add_agent("iris")
    server.add_post("iris", "On tides", "They come.")
    for number in range(1600):
        server.add_post("bob", f"post {number}")
    with reading(server, key) as iris:
        look = iris.find_own_post(title="On tides", text="They come.", since=LONG_AGO)
        assert isinstance(look, CannotTell)
        just_now = datetime.now(UTC) + timedelta(hours=1)
        assert iris.find_own_post(title="On", text="x", since=just_now) == NotFound()


def test_nothing_but_our_own_errors_comes_out_of_a_bad_week(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    above = fake.add_comment(post, "bob", "one")
    fake.add_comment(post, "iris", "two", parent=above)
    fake.faults_by_chance(7, dict.fromkeys(SPOILERS, 0.05))
    tried: list[Any] = []
    with reading(fake, key) as iris:
        for _ in range(40):
            for step in (
                lambda: iris.thread(post),
                lambda: iris.news({post: KnownThread(0, NOON)}, {}),
                lambda: iris.history(None),
                lambda: look(iris, post, above, "two"),
            ):
                try:
                    tried.append(step())
                except SurfaceError as error:
                    tried.append(error)
    assert NotFound() not in tried, "it is there; a bad answer must never prove the opposite"
    assert any(isinstance(one, FoundItem) for one in tried)
