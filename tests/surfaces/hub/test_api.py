"""The hub's contract, as a runner over HTTP meets it."""

from __future__ import annotations

from typing import Any

import pytest

from surfaces.hub import api as hub_api
from surfaces.hub import services as hub_services
from surfaces.models import HubAuthor, HubPost
from tests.factories import NOON

pytestmark = pytest.mark.django_db


class Runner:
    """Somebody who knows the contract and nothing else."""

    def __init__(self, name: str) -> None:
        self.author, self.key = hub_services.join(name=name, is_bot=True, now=NOON)

    def ask(
        self, method: str, path: str, body: Any = None, *, once: str = "", **params: str
    ) -> tuple[int, dict[str, Any]]:
        headers = {"AUTHORIZATION": f"Bearer {self.key}", "Idempotency-Key": once}
        return hub_api.answer(method, f"/api/v1{path}", params, body, headers, now=NOON)

    def get(self, path: str, **params: str) -> dict[str, Any]:
        status, said = self.ask("GET", path, **params)
        assert status == 200, said
        return said

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        status, said = self.ask("POST", path, body)
        assert status == 201, said
        return said


@pytest.fixture
def iris() -> Runner:
    return Runner("iris")


@pytest.fixture
def odile() -> Runner:
    return Runner("odile")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic aXJpczp4"},
        {"Authorization": "Bearer \ud800"},
    ],
)
def test_without_a_key_every_door_is_closed_and_nothing_is_told(headers: dict[str, str]):
    for method, path in (("GET", "/api/v1/posts"), ("POST", "/api/v1/posts"), ("GET", "/x")):
        status, said = hub_api.answer(method, path, {}, {}, headers, now=NOON)
        assert (status, set(said)) == (401, {"error"})


def test_a_post_and_its_comments_have_the_fields_that_runners_need(iris: Runner, odile: Runner):
    post = iris.post("/posts", title="On tides", content="What is left out?", agent_id="odile")
    assert post["author"]["name"] == "iris", "an author's key speaks for its author alone"
    comment = odile.post(f"/posts/{post['id']}/comments", content="The wind.")
    answer = iris.post(
        f"/posts/{post['id']}/comments", content="And then?", parent_id=comment["id"]
    )
    said = iris.get(f"/posts/{post['id']}", include_comments="true")
    assert {"id", "author", "title", "content", "community", "parent_id", "created_at"} <= set(said)
    assert [c["id"] for c in said["comments"]] == [comment["id"], answer["id"]]
    assert said["comments"][0]["parent_id"] == post["id"], "a comment on the post names the post"
    assert said["comments"][1]["parent_id"] == comment["id"]
    assert said["comments"][0]["author"]["id"] == said["comments"][0]["author"]["name"] == "odile"
    assert said["comment_count"] == 2
    assert said["created_at"] == "2026-11-21T12:00:00+00:00"
    assert "comments" not in iris.get(f"/posts/{post['id']}")


def test_ids_of_posts_and_comments_are_never_the_same(iris: Runner):
    post = iris.post("/posts", content="First.")
    comment = iris.post(f"/posts/{post['id']}/comments", content="Second.")
    assert post["id"].startswith("p")
    assert comment["id"].startswith("c")


def test_one_key_makes_one_comment_over_http_too(iris: Runner):
    path = f"/posts/{iris.post('/posts', content='First.')['id']}/comments"
    first = iris.ask("POST", path, {"content": "Once."}, once="k")
    assert iris.ask("POST", path, {"content": "Once."}, once="k") == first
    status, said = iris.ask("POST", path, {"content": "Twice."}, once="k")
    assert (status, said) == (409, {"error": "This idempotency key was used for other words."})


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/posts", {"content": ""}, 422),
        ("POST", "/posts", {"content": 7}, 422),
        ("POST", "/posts", [1], 422),
        ("POST", "/posts", {"content": "x", "community": "nowhere"}, 404),
        ("GET", "/posts/p999", None, 404),
        ("GET", "/posts/c1", None, 404),
        ("GET", "/posts/p" + "9" * 40, None, 404),
        ("GET", "/posts/p٣", None, 404),
        ("GET", "/search", None, 422),
        ("GET", "/nothing", None, 404),
        ("PUT", "/posts", {}, 404),
        ("DELETE", "/comments/c999", None, 404),
        ("POST", "/notifications/read", {"notification_ids": "c1"}, 422),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    iris: Runner, method: str, path: str, body: Any, status: int
):
    found, said = iris.ask(method, path, body)
    assert (found, set(said)) == (status, {"error"})
    assert said["error"].endswith(".")


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/posts", {"limit": "many"}),
        ("/posts", {"limit": "-1"}),
        ("/posts", {"limit": "0"}),
        ("/search", {"q": "tides", "limit": "0"}),
        ("/feed", {"limit": "0"}),
        ("/feed/discover", {"limit": "0"}),
        ("/activity", {"limit": "0"}),
        ("/notifications", {"limit": "0"}),
        ("/posts", {"before": "p999"}),
        ("/activity", {"after": "²"}),
        ("/search", {"q": "a\x00b"}),
        ("/feed/discover", {"keywords": "a\x00b"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(iris: Runner, path: str, params: dict):
    status, said = iris.ask("GET", path, **params)
    assert status in {404, 422}
    assert said["error"]


def test_strangers_cannot_change_or_delete_what_is_not_theirs(iris: Runner, odile: Runner):
    post = iris.post("/posts", content="Mine.")
    for method, body in (("DELETE", None), ("PATCH", {"content": "Yours."})):
        status, said = odile.ask(method, f"/posts/{post['id']}", body)
        assert (status, said["error"]) == (403, "Only iris may change or delete this.")


def test_a_deleted_item_keeps_its_place_without_its_text(iris: Runner):
    post = iris.post("/posts", content="First.")
    comment = iris.post(f"/posts/{post['id']}/comments", content="Second.")
    for _ in range(2):
        assert iris.ask("DELETE", f"/comments/{comment['id']}")[0] == 200
    marked = iris.get(f"/posts/{post['id']}", include_comments="true")["comments"][0]
    assert (marked["content"], marked["is_deleted"]) == ("", True)
    for _ in range(2):
        assert iris.ask("DELETE", f"/posts/{post['id']}")[0] == 200
    place = iris.get(f"/posts/{post['id']}", include_comments="true")
    assert (place["id"], place["title"], place["content"]) == (post["id"], "", "")
    assert place["is_deleted"]
    assert [comment["number"] for comment in place["comments"]] == [1]
    assert iris.get("/posts")["posts"] == []
    for method, path in (("PATCH", ""), ("POST", "/comments")):
        assert iris.ask(method, f"/posts/{post['id']}{path}", {"content": "More."})[0] == 404


def test_an_edit_shows_when_it_was_made(iris: Runner):
    post = iris.post("/posts", title="On tides", content="First.")
    status, said = iris.ask("PATCH", f"/posts/{post['id']}", {"content": "Better."})
    assert (status, said["content"], said["title"]) == (200, "Better.", "On tides")
    assert said["updated_at"]


def test_posts_come_newest_first_and_in_pages(iris: Runner, odile: Runner):
    mine = [iris.post("/posts", content=f"Number {n}.")["id"] for n in range(3)]
    odile.post("/posts", content="Another.")
    page = iris.get("/posts", author="me", limit="2")
    assert [post["id"] for post in page["posts"]] == [mine[2], mine[1]]
    rest = iris.get("/posts", author="IRIS", limit="2", before=page["next_before"])
    assert ([post["id"] for post in rest["posts"]], rest["next_before"]) == ([mine[0]], None)


def test_activity_is_of_my_threads_and_of_those_where_i_spoke(iris: Runner, odile: Runner):
    mine = iris.post("/posts", content="Mine.")
    theirs = odile.post("/posts", content="Theirs.")
    cursor = iris.get("/activity")["cursor"]
    odile.post(f"/posts/{theirs['id']}/comments", content="Alone.")
    assert iris.get("/activity", after=cursor)["threads"] == []
    iris.post(f"/posts/{theirs['id']}/comments", content="Not alone.")
    odile.post(f"/posts/{mine['id']}/comments", content="Hello.")
    said = iris.get("/activity", after=cursor)
    assert [(t["id"], t["comment_count"]) for t in said["threads"]] == [
        (theirs["id"], 2),
        (mine["id"], 1),
    ]
    assert not said["has_more"]


def test_a_notification_is_read_when_it_is_marked(iris: Runner, odile: Runner):
    post = iris.post("/posts", content="Mine.")
    path = f"/posts/{post['id']}/comments"
    plain = odile.post(path, content="Hello.")
    named = odile.post(path, content="Hello @Iris, are you there?")
    found = iris.get("/notifications", unread="true")["notifications"]
    assert [(n["id"], n["type"], n["from_agent"]["name"], n["read"]) for n in found] == [
        (named["id"], "mention", "odile", False),
        (plain["id"], "reply", "odile", False),
    ]
    assert iris.get("/agents/me")["notification_count"] == 2
    status, _ = iris.ask("POST", "/notifications/read", {"notification_ids": [plain["id"]]})
    assert status == 200
    left = iris.get("/notifications", unread="true")["notifications"]
    assert [n["id"] for n in left] == [named["id"]]
    assert [n["read"] for n in iris.get("/notifications")["notifications"]] == [False, True]
    assert odile.get("/notifications")["notifications"] == []


def test_search_feed_and_discover_speak_one_shape(iris: Runner, odile: Runner):
    post = odile.post("/posts", title="The sandbar", content="It moved.")
    needed = {"id", "author", "title", "content", "community", "created_at"}
    for path, key in (("/search", "results"), ("/feed", "posts"), ("/feed/discover", "posts")):
        (found,) = iris.get(path, q="sandbar", communities="commons", keywords="moved")[key]
        assert found["id"] == post["id"]
        assert needed <= set(found)


def test_reading_writes_nothing(iris: Runner, django_assert_num_queries: Any):
    iris.post("/posts", content="Mine.")
    before = (HubPost.objects.values().get(), HubAuthor.objects.values().get())
    for path in ("/agents/me", "/posts", "/feed", "/activity", "/notifications"):
        iris.get(path)
    assert (HubPost.objects.values().get(), HubAuthor.objects.values().get()) == before
    with django_assert_num_queries(2):  # who asks, and the posts with their authors
        iris.get("/posts")
