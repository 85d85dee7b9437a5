"""Reading Moltbook, against a fake of both dialects over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from surfaces.adapters.base import Access
from surfaces.adapters.moltbook import Moltbook
from surfaces.errors import AuthFailed, Refused, TryLater
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import pretend, reading


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


# ── who we are ────────────────────────────────────────────────────────────


def test_the_service_says_who_we_are(fake: FakeMoltbook):
    with reading(fake, fake.add_agent("Iris_Bot")) as iris:
        me = iris.who_am_i()
    assert me.handle.lower() == "iris_bot"
    assert me.remote_id
    assert me.note == ""


def test_an_account_nobody_claimed_says_so(fake: FakeMoltbook):
    with reading(fake, fake.add_agent("iris", claimed=False)) as iris:
        assert iris.who_am_i().note == "moltbook.not_claimed"


def test_a_wrong_key_is_an_authentication_failure(fake: FakeMoltbook):
    with reading(fake, "moltbook_" + "0" * 64) as iris, pytest.raises(AuthFailed):
        iris.who_am_i()


@pytest.mark.parametrize("url", ["https://moltbook.com/api/v1", "https://moltbook.ai/api/v1"])
def test_a_wrong_address_is_refused_before_anything_is_sent(url: str):
    with pytest.raises(ValueError, match="moltbook"):
        Moltbook(Access(token="k", base_url=url))


def test_a_redirect_is_refused(fake: FakeMoltbook):
    fake.fault("redirect")
    with reading(fake, fake.add_agent("iris")) as iris, pytest.raises(Refused):
        iris.who_am_i()
    assert len(fake.requests) == 1


# ── threads ───────────────────────────────────────────────────────────────


def test_a_thread_comes_parents_first_with_ours_marked(fake: FakeMoltbook):
    key = fake.add_agent("Iris")
    post = fake.add_post("iris", "Title", "  text  ")
    asked_first = fake.add_comment(post, "bob", "why?")
    ours = fake.add_comment(post, "iris", "because", parent=asked_first)
    deeper = fake.add_comment(post, "bob", "I see", parent=ours)
    with reading(fake, key) as iris:
        thread = iris.thread(post)
    assert thread.root
    assert (thread.root.title, thread.root.content, thread.root.is_ours) == ("Title", "text", True)
    assert thread.root.comment_count == 3
    seen = [(item.remote_id, item.parent_id, item.is_ours) for item in thread.comments]
    assert seen == [(asked_first, None, False), (ours, asked_first, True), (deeper, ours, False)]
    assert thread.is_complete
    assert not thread.skipped
    assert {item.post_id for item in thread.comments} == {post}


def test_a_deleted_comment_stays_with_its_author_and_its_replies(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    post = fake.add_post("iris")
    gone = fake.add_comment(post, "bob", "never mind")
    fake.add_comment(post, "carol", "I do mind", parent=gone)
    fake.delete_comment(gone)
    with reading(fake, key) as iris:
        thread = iris.thread(post)
    assert [item.is_deleted for item in thread.comments] == [True, False]
    assert thread.comments[0].author == "bob"
    assert thread.is_complete, "the count does not go down, but the place is still listed"


def test_a_post_that_is_not_there_is_gone(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    post = fake.add_post("bob")
    fake.delete_post(post)
    with reading(fake, key) as iris:
        thread = iris.thread(post)
    assert thread.is_gone
    assert thread.root is None


@pytest.mark.parametrize("fault", ["html-404", "500-before", "html-403", "text", "broken-json"])
def test_only_the_service_itself_can_say_that_a_post_is_gone(fake: FakeMoltbook, fault: str):
    key = fake.add_agent("iris")
    post = fake.add_post("bob")
    fake.fault(fault, match=f"GET /posts/{post}$")
    with reading(fake, key) as iris, pytest.raises(TryLater):
        iris.thread(post)


def test_a_wrong_path_does_not_make_every_post_look_gone(fake: FakeMoltbook):
    access = Access(token=fake.add_agent("iris"), base_url=fake.root + "/v9", handle="iris")
    iris = Moltbook(access)
    with pytest.raises(TryLater):
        iris.thread("4c11bfc9-6405-483d-ba62-69b44d39828b")
    iris.close()


def test_an_answer_without_a_list_is_not_an_empty_list(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    for fault in ("not-a-list", "empty-object", "text", "broken-json", "deep"):
        fake.fault(fault, match="comments")
        with reading(fake, key) as iris, pytest.raises(TryLater):
            iris.thread(post)


def test_an_answer_larger_than_eight_megabytes_is_dropped(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    fake.fault("huge", match="comments")
    with reading(fake, key) as iris, pytest.raises(TryLater):
        iris.thread(post)


def test_a_small_cut_list_is_noticed_by_its_count(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    for number in range(5):
        fake.add_comment(post, "bob", f"comment {number}")
    fake.fault("truncate", match="comments", times=3, seconds=2)
    with reading(fake, key) as iris:
        thread = iris.thread(post)
    assert not thread.is_complete


def test_a_thread_that_hides_all_replies_is_known_to_be_cut(server: FakeMoltbook):
    """Seen with 531 comments: every request returned 500 roots and no reply."""
    key, post = server.add_agent("iris"), server.add_post("iris")
    first = server.add_comment(post, "bob", "root 0")
    server.add_comment(post, "iris", "our reply", parent=first)
    for number in range(1, 530):
        server.add_comment(post, "bob", f"root {number}")
    with reading(server, key) as iris:
        thread = iris.thread(post)
    assert not thread.is_complete
    assert not any(item.is_ours for item in thread.comments)
    assert len(thread.comments) == 530, "both ends together show every root"
    sorts = [path for path in asked(server) if "comments" in path]
    assert ["sort=new" in sorts[0], "sort=top" in sorts[1]] == [True, True]


def test_both_ends_of_a_cut_thread_are_the_whole_of_it_where_they_meet(server: FakeMoltbook):
    key, post = server.add_agent("iris"), server.add_post("iris")
    for number in range(550):
        server.add_comment(post, "bob", f"root {number}")
    with reading(server, key) as iris:
        thread = iris.thread(post)
        assert (len(thread.comments), thread.is_complete, thread.is_cut) == (550, True, True)


def test_a_single_comment_is_read_behind_a_cut_list(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    above = fake.add_comment(post, "bob", "root")
    ours = fake.add_comment(post, "iris", "our reply", parent=above)
    with reading(fake, key) as iris:
        found = iris.comment(post, ours)
        assert found is not None
        assert (found.is_ours, found.parent_id, found.is_deleted) == (True, above, False)
        fake.delete_comment(ours)
        assert iris.comment(post, ours).is_deleted
        assert iris.comment(post, "4c11bfc9-6405-483d-ba62-69b44d39828b") is None


def test_a_post_whose_count_stands_still_costs_one_request(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    fake.add_comment(post, "bob", "root")
    with reading(fake, key) as iris:
        iris.who_am_i()
        fake.requests.clear()
        assert iris.thread(post, known=1).is_unchanged
        assert len(fake.requests) == 1
        assert len(iris.thread(post, known=0).comments) == 1


def test_a_list_as_long_as_we_asked_for_may_be_cut_even_without_a_count():
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("comments"):
            rows = [{"id": str(number)} for number in range(500)]
            return httpx.Response(200, json={"success": True, "comments": rows})
        return httpx.Response(200, json={"post": {"id": "p"}})

    assert not Moltbook(pretend(answer, dialect="open")).thread("p").is_complete


def test_the_live_pages_are_walked_to_their_end(site: FakeMoltbook):
    key, post = site.add_agent("iris"), site.add_post("iris")
    roots = [site.add_comment(post, "bob", f"root {number}") for number in range(250)]
    late = site.add_comment(post, "carol", "under the oldest", parent=roots[0])
    with reading(site, key) as iris:
        thread = iris.thread(post)
    assert len(thread.comments) == 251
    assert late in {item.remote_id for item in thread.comments}
    assert thread.is_complete
    assert sum("comments" in path for path in asked(site)) == 3


def test_more_without_a_way_to_get_it_is_a_cut_list():
    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("comments"):
            return httpx.Response(200, json={"post": {"id": "p"}})
        body = {"comments": [{"id": "a", "content": "x"}], "has_more": True}
        return httpx.Response(200, json=body)

    thread = Moltbook(pretend(answer)).thread("p")
    assert [item.remote_id for item in thread.comments] == ["a"]
    assert not thread.is_complete


def test_a_cursor_that_leads_in_circles_ends():
    calls = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        if not request.url.path.endswith("comments"):
            return httpx.Response(200, json={"post": {"id": "p"}})
        body = {"comments": [{"id": "a"}], "hasMore": True, "nextCursor": "same"}
        return httpx.Response(200, json=body)

    assert not Moltbook(pretend(answer)).thread("p").is_complete
    assert len(calls) < 8


def test_a_flat_list_with_parents_is_a_thread_too():
    flat = [{"id": "b", "parent_id": "a", "author": None}, {"id": "a", "post_id": "p"}, None, {}]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("comments"):
            return httpx.Response(200, json={"data": flat})
        return httpx.Response(200, json={"data": {"post": {"id": "p", "commentCount": "4"}}})

    thread = Moltbook(pretend(answer)).thread("p")
    assert [item.remote_id for item in thread.comments] == ["a", "b"]
    assert len(thread.skipped) == 2
    assert thread.is_complete


@pytest.mark.parametrize("fault", ["wrong-types", "odd-times", "surrogates", "numeric-ids"])
def test_bad_items_never_break_a_thread(fake: FakeMoltbook, fault: str):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    above = fake.add_comment(post, "bob", "one")
    fake.add_comment(post, "bob", "two", parent=above)
    fake.fault(fault, times=3)
    fake.faults.by_chance(1, {fault: 1.0}, "posts")
    with reading(fake, key, handle="iris") as iris:
        thread = iris.thread(post)
    found = len(thread.comments) + len(thread.skipped)
    assert found >= (1 if fault == "wrong-types" else 2)
    if fault == "numeric-ids":
        assert thread.comments[1].parent_id == thread.comments[0].remote_id
        assert thread.root
        assert thread.root.remote_id == post


def test_replies_that_are_no_list_are_missed():
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("comments"):
            return httpx.Response(200, json={"comments": [{"id": "a", "replies": {"0": "b"}}]})
        return httpx.Response(200, json={"post": {"id": "p"}})

    assert not Moltbook(pretend(answer)).thread("p").is_complete


def test_an_id_that_holds_a_slash_stays_in_its_place():
    paths = []

    def answer(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return httpx.Response(404, json={"error": "Post not found"})

    assert Moltbook(pretend(answer)).thread("../agents/me?x=").is_gone
    assert paths == [b"/api/v1/posts/..%2Fagents%2Fme%3Fx%3D"]


# ── the feed ──────────────────────────────────────────────────────────────


def test_the_feed_shows_posts_of_others_newest_first_with_what_was_sent(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    fake.add_post("bob", "Old", community="sea")
    fake.add_post("carol", "Elsewhere", community="land")
    fake.add_post("bob", "New", community="sea")
    with reading(fake, key) as iris:
        everywhere = iris.feed([], 10)
        at_sea = iris.feed(["sea", "nowhere"], 10)
    assert [item.title for item in everywhere.posts] == ["New", "Elsewhere", "Old"]
    assert [item.title for item in at_sea.posts] == ["New", "Old"]
    newest = at_sea.posts[0]
    assert (newest.author, newest.community, newest.is_ours) == ("bob", "sea", False)
    assert newest.raw["title"] == "New"


def test_a_feed_takes_one_request_per_community(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    with reading(fake, key, handle="iris") as iris:
        iris.feed(["sea", "land", "sea"], 500)
    assert asked(fake) == [
        "/posts?sort=new&limit=100&submolt=sea", "/posts?sort=new&limit=100&submolt=land",
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [[None, 7, "x", {}, {"id": []}], [{"id": 1, "content": 5}]])
def test_a_feed_of_nonsense_is_skipped_not_shown(rows: list[object]):
    wire = pretend(lambda request: httpx.Response(200, json={"posts": rows}))
    feed = Moltbook(wire).feed([], 10)
    assert feed.posts == ()
    assert len(feed.skipped) == len(rows)


def test_a_feed_without_a_list_is_tried_later():
    wire = pretend(lambda request: httpx.Response(200, json={"posts": "many"}))
    with pytest.raises(TryLater):
        Moltbook(wire).feed([], 10)
