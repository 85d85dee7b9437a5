"""Writing to Moltbook, against a fake of both dialects over real HTTP and its ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from surfaces.adapters.base import Access
from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.moltbook.writer import MoltbookWriter
from surfaces.adapters.types import ItemKind, SentItem
from surfaces.errors import (
    AuthFailed,
    Limited,
    NotThere,
    PaymentRequired,
    Refused,
    SurfaceError,
    Suspended,
    TryLater,
    Unconfirmed,
)
from tests.factories import NOON
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import Purse, pretend, writing

POSTING = "POST .*comments"


@pytest.fixture(params=["open", "live"])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield fake


def say(
    writer: MoltbookWriter, post: str, text: str = "because", parent: str | None = None
) -> SentItem:
    return writer.reply(post_id=post, parent_id=parent, text=text, key="intent-1")


# ── replies ───────────────────────────────────────────────────────────────


def test_a_reply_is_stored_once_under_its_parent(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above = fake.add_comment(post, "bob", "why?")
    with writing(fake, key) as iris:
        sent = say(iris, post, "  because 🦞 ", above)
    assert fake.comments[sent.remote_id].parent is fake.comments[above]
    assert sent.content == "because 🦞"
    assert sent.created_at
    assert sent.challenge is None
    assert len(fake.stored(author="iris", text="because 🦞")) == 1


def test_a_reply_to_the_post_itself_names_no_parent(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    with writing(fake, key) as iris:
        assert fake.comments[say(iris, post).remote_id].parent is None


def test_the_body_holds_the_documented_fields_and_nothing_else():
    bodies = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(201, json={"comment": {"id": "c"}, "post": {"id": "p"}})

    for dialect in ("live", "open"):
        iris = MoltbookWriter(pretend(answer, dialect=dialect))
        say(iris, "p", "x")
        say(iris, "p", "x", "c")
        iris.create_post(title="t", text="x", community="general", key="k")
    assert bodies[:2] == bodies[3:5] == [{"content": "x"}, {"content": "x", "parent_id": "c"}]
    assert bodies[2] == {"submolt_name": "general", "title": "t", "content": "x"}
    assert bodies[5] == {"submolt": "general", "title": "t", "content": "x"}


def test_the_tenth_level_is_the_deepest(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above: str | None = None
    for _ in range(10):
        above = fake.add_comment(post, "bob", "down", parent=above)
    with writing(fake, key) as iris:
        deepest = say(iris, post, "depth 10", above)
        assert fake.comments[deepest.remote_id].depth == Moltbook.traits.max_depth
        with pytest.raises(Refused, match="depth") as refused:
            say(iris, post, "depth 11", deepest.remote_id)
    assert refused.value.permanent


def test_answering_what_is_gone_is_not_possible(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    missing = "00000000-0000-4000-8000-000000000000"
    with writing(fake, key) as iris:
        with pytest.raises(NotThere):
            say(iris, post, "x", missing)
        with pytest.raises(NotThere):
            say(iris, missing, "x")


def test_a_deleted_comment_can_still_be_answered(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    above = fake.add_comment(post, "bob", "why?")
    fake.delete_comment(above)
    with writing(fake, key) as iris:
        assert say(iris, post, "late", above).remote_id


@pytest.mark.parametrize(
    "text", ["", "  \ufeff\n", "a\x00b", "a\ud800b", "x" * 10_001, "🦞" * 5001]
)
def test_what_the_service_cannot_take_does_not_cost_a_request(fake: FakeMoltbook, text: str):
    with writing(fake, fake.add_agent("iris")) as iris, pytest.raises(Refused):
        say(iris, fake.add_post("bob"), text)
    assert fake.requests == []


def test_the_longest_comment_is_taken(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    with writing(fake, key) as iris:
        assert say(iris, post, "x" * 10_000).remote_id


# ── posts ─────────────────────────────────────────────────────────────────


def test_a_post_is_stored_once(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    with writing(fake, key) as iris:
        sent = iris.create_post(title="On tides", text="They come.", community="general", key="k")
    assert [line["id"] for line in fake.stored(kind="post")] == [sent.remote_id]
    assert fake.posts[sent.remote_id].title == "On tides"


def test_a_post_may_be_longer_than_a_comment(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    with writing(fake, key) as iris:
        iris.create_post(title="t" * 300, text="x" * 40_000, community="general", key="k")
        with pytest.raises(Refused, match="title"):
            iris.create_post(title="t" * 301, text="x", community="general", key="k")
        with pytest.raises(Refused, match="text"):
            iris.create_post(title="t", text="x" * 40_001, community="general", key="k")


def test_an_unknown_community_is_a_refusal(fake: FakeMoltbook):
    with writing(fake, fake.add_agent("iris")) as iris, pytest.raises(NotThere):
        iris.create_post(title="t", text="x", community="nowhere", key="k")


# ── when it goes wrong ────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fault", "meaning", "stored"),
    [
        ("500-before", Unconfirmed, 0),
        ("500-after", Unconfirmed, 1),
        ("503", Unconfirmed, 0),
        ("reset-before", Unconfirmed, 0),
        ("reset-after", Unconfirmed, 1),
        ("hang-before", Unconfirmed, 0),
        ("hang-after", Unconfirmed, 1),
        ("broken-json", Unconfirmed, 1),
        ("empty-object", Unconfirmed, 1),
        ("huge", Unconfirmed, 1),
        ("deep", Unconfirmed, 1),
        ("text", Unconfirmed, 0),
        ("html-403", TryLater, 0),
        ("html-404", NotThere, 0),
        ("suspended-401", Suspended, 0),
        ("suspended-403", Suspended, 0),
        ("401", AuthFailed, 0),
        ("402", PaymentRequired, 0),
        ("413", Refused, 0),
        ("400-array", Refused, 0),
        ("redirect", Unconfirmed, 0),
        ("429-retry-after", Limited, 0),
        ("429-daily", Limited, 0),
        ("429-bare", Limited, 0),
    ],
)
def test_every_failure_has_its_name_and_nothing_is_sent_twice(
    fake: FakeMoltbook, fault: str, meaning: type[SurfaceError], stored: int
):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.fault(fault, match=POSTING, seconds=0.2)
    with writing(fake, key) as iris, pytest.raises(SurfaceError) as raised:
        say(iris, post)
    assert type(raised.value) is meaning
    assert len(fake.stored(kind="comment")) == stored
    assert len(fake.requests) == 1


@pytest.mark.parametrize("fault", ["wrong-types", "numeric-ids", "odd-times", "surrogates"])
def test_an_odd_answer_still_names_what_was_made(fake: FakeMoltbook, fault: str):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.fault(fault, match=POSTING)
    with writing(fake, key) as iris:
        assert say(iris, post).remote_id


def test_a_server_that_is_not_there_was_not_asked():
    with FakeMoltbook() as fake:
        key = fake.add_agent("iris")
        url = fake.url
    iris = MoltbookWriter(Access(token=key, base_url=url))
    with pytest.raises(TryLater) as raised:
        say(iris, "p")
    assert not raised.value.asked
    iris.close()


def test_a_suspension_says_until_when(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    fake.suspend("iris", 7000)
    with writing(fake, key) as iris, pytest.raises(Suspended) as raised:
        say(iris, post)
    assert raised.value.until
    assert raised.value.until > datetime.now(UTC) + timedelta(hours=1)


# ── budgets ───────────────────────────────────────────────────────────────


def test_a_comment_and_a_post_have_budgets_of_their_own(fake: FakeMoltbook):
    key, post, purse = fake.add_agent("iris"), fake.add_post("bob"), Purse()
    with writing(fake, key, meter=purse) as iris:
        sent = say(iris, post)
        iris.create_post(title="t", text="x", community="general", key="k")
        iris.delete(kind=ItemKind.COMMENT, remote_id=sent.remote_id)
    own = {"open": ("comment_hour",), "live": ("comment", "comment_day")}
    assert purse.taken == [
        *(*own[fake.world.dialect], "write", "general"),
        *("post", "write", "general"),
        *("write", "general"),
    ]


def test_the_open_server_tells_what_is_left_of_the_comments():
    with FakeMoltbook(dialect="open", limits={"comment": (50, 3600)}) as fake:
        purse = Purse()
        with writing(fake, fake.add_agent("iris"), meter=purse) as iris:
            say(iris, fake.add_post("bob"))
    assert purse.told == [("comment_hour", 49, None)]


@pytest.mark.parametrize(
    ("limits", "bucket", "wait"),
    [
        ({"comment": (1, 20)}, "comment", 20),
        ({"comment_day": (1, 86400)}, "comment_day", 86400),
    ],
)
def test_a_refused_comment_waits_as_long_as_the_live_site_says(
    limits: dict[str, tuple[int, float]], bucket: str, wait: int
):
    with FakeMoltbook(dialect="live", limits=limits) as fake:
        purse, post = Purse(), fake.add_post("bob")
        with writing(fake, fake.add_agent("iris"), meter=purse) as iris:
            say(iris, post)
            with pytest.raises(Limited) as refused:
                say(iris, post)
    assert timedelta(seconds=wait - 2) <= refused.value.wait <= timedelta(seconds=wait)
    assert purse.told[-1] == (bucket, None, refused.value.wait)


@pytest.mark.parametrize(
    ("headers", "bucket"),
    [
        ({"X-RateLimit-Limit": "1"}, "comment"),
        ({"X-RateLimit-Limit": "1", "X-RateLimit-Reset": "20"}, "comment"),
        ({"X-RateLimit-Reset": "20"}, "comment"),
        ({"X-RateLimit-Limit": "50", "X-RateLimit-Reset": "20"}, "comment_day"),
        ({"X-RateLimit-Reset": "40000"}, "comment_day"),
        ({}, "comment_day"),
    ],
)
def test_seconds_until_the_next_comment_are_not_taken_for_a_spent_day(
    headers: dict[str, str], bucket: str
):
    purse = Purse()

    def created(request: httpx.Request) -> httpx.Response:
        reset = {
            name: str(int(NOON.timestamp()) + int(value))
            for name, value in headers.items()
            if name == "X-RateLimit-Reset"
        }
        said = {"success": True, "comment": {"id": "c-1", "content": "x"}}
        left = {"X-RateLimit-Remaining": "0"}
        return httpx.Response(201, json=said, headers=left | headers | reset)

    access = Access(
        token="k", base_url="http://127.0.0.1:9/api/v1", dialect="live", meter=purse,
        transport=httpx.MockTransport(created), clock=lambda: NOON,
    )  # fmt: skip
    with closing(MoltbookWriter(access)) as iris:
        say(iris, "p-1")
    assert [name for name, _, _ in purse.told] == [bucket]


def test_a_refused_post_waits_for_its_minutes():
    fake = FakeMoltbook(dialect="live", limits={"post": (1, 1800)})
    with fake, writing(fake, fake.add_agent("iris")) as iris:
        iris.create_post(title="t", text="x", community="general", key="k")
        with pytest.raises(Limited) as refused:
            iris.create_post(title="t", text="y", community="general", key="l")
    assert refused.value.wait == timedelta(minutes=30)


# ── taking back ───────────────────────────────────────────────────────────


def test_what_we_said_can_be_taken_back_twice(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    comment = fake.add_comment(post, "iris", "oops")
    with writing(fake, key) as iris:
        iris.delete(kind=ItemKind.COMMENT, remote_id=comment)
        assert fake.comments[comment].is_deleted
        iris.delete(kind=ItemKind.POST, remote_id=post)
        iris.delete(kind=ItemKind.POST, remote_id=post)
        iris.delete(kind=ItemKind.COMMENT, remote_id=comment)
    assert post not in fake.posts


def test_what_others_said_cannot_be_taken_back(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("bob")
    with writing(fake, key) as iris, pytest.raises(Refused):
        iris.delete(kind=ItemKind.POST, remote_id=post)
    assert post in fake.posts


@pytest.mark.parametrize("fault", ["html-404", "500-before", "reset-before"])
def test_a_bad_answer_to_a_deletion_is_no_success(fake: FakeMoltbook, fault: str):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    fake.fault(fault)
    with writing(fake, key) as iris, pytest.raises(SurfaceError):
        iris.delete(kind=ItemKind.POST, remote_id=post)
