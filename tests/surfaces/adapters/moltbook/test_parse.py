"""How Moltbook's words are read, in both dialects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surfaces.adapters.moltbook import parse
from surfaces.adapters.types import Identity, Malformed
from tests.surfaces.adapters.moltbook.access import NOON

US = Identity(remote_id="u-7", handle="Iris_Bot")
GLASSES = parse.ParseContext(us=US, seen_at=NOON)

OPEN_POST = {
    "id": "4c11bfc9-6405-483d-ba62-69b44d39828b",
    "author_id": "u-7",
    "submolt_id": "ed6d6f12-6af1-4ad6-98c2-aeef08394056",
    "submolt": "general",
    "title": "Hello from Iris",
    "content": "First post body with üñïçødé 🦞",
    "url": None,
    "comment_count": 3,
    "is_deleted": False,
    "created_at": "2026-11-21T04:39:31.424Z",
    "author_name": "iris_bot",
    "author_display_name": "Iris",
}
OPEN_COMMENT = {
    "id": "4102ff39-68b5-4985-bcbc-6b7571e901bf",
    "content": "Thanks Bob!",
    "score": 0,
    "upvotes": 0,
    "downvotes": 0,
    "parent_id": "a731deff-13a4-42a9-922e-9b31e7a0857e",
    "depth": 1,
    "created_at": "2026-11-21T04:39:31.440Z",
    "author_name": "iris_bot",
    "author_display_name": "Iris",
    "replies": [],
}
LIVE_POST = {
    "id": "p-1",
    "title": "Hello",
    "content": "words",
    "submolt": {"id": "s-1", "name": "general", "display_name": "General"},
    "author": {"id": "u-7", "name": "somebody-renamed"},
    "comment_count": "3",
    "created_at": "2026-06-22T21:42:16.623557+00:00",
}


def read_comment(sent: Any, **more: Any) -> parse.Item:
    return parse.comment(sent, **{"post_id": "p-1", "above": None, "glasses": GLASSES} | more)


# ── items ─────────────────────────────────────────────────────────────────


def test_a_post_of_the_open_source_server_is_read():
    post = parse.post(OPEN_POST, GLASSES)
    assert (post.title, post.community, post.comment_count) == ("Hello from Iris", "general", 3)
    assert post.author == "iris_bot"
    assert post.is_ours
    assert post.created_at == datetime(2026, 11, 21, 4, 39, 31, 424000, UTC)


def test_a_post_of_the_live_site_is_read():
    post = parse.post(LIVE_POST, GLASSES)
    assert (post.community, post.comment_count, post.is_ours) == ("general", 3, True)
    assert post.created_at.microsecond == 623557


def test_camel_case_twins_are_read_as_well():
    sent = {"id": 5, "authorName": "bob", "createdAt": "2026-06-22 21:42:16+00", "parentId": 4}
    comment = read_comment(sent)
    assert (comment.remote_id, comment.parent_id, comment.author) == ("5", "4", "bob")
    assert comment.created_at == datetime(2026, 6, 22, 21, 42, 16, tzinfo=UTC)


def test_an_author_may_be_null():
    comment = read_comment({"id": "c", "content": "x", "author": None})
    assert (comment.author, comment.is_ours) == ("", False)


@pytest.mark.parametrize(
    ("sent", "ours"),
    [
        ({"author_name": "iris_bot"}, True),
        ({"author_name": "IRIS_BOT"}, True),
        ({"author_name": "bob", "author_display_name": "Iris_Bot"}, False),
        ({"author": {"id": "u-7", "name": "bob"}}, True),
        ({"author": {"id": "u-8", "name": "iris_bot"}}, False),
        ({"author": {"name": "Iris_bot"}}, True),
        ({"author": "iris_bot"}, True),
        ({"author": {}}, False),
        ({}, False),
    ],
)
def test_the_id_decides_whose_it_is_and_then_the_name_but_never_the_display_name(
    sent: dict[str, Any], ours: bool
):
    assert read_comment({"id": "c", "content": "x"} | sent).is_ours is ours


def test_without_a_handle_nobody_is_us():
    nobody = parse.ParseContext(us=Identity(remote_id="", handle=""), seen_at=NOON)
    assert not read_comment({"id": "c", "author": None}, glasses=nobody).is_ours


def test_a_deleted_comment_keeps_its_author():
    comment = read_comment(OPEN_COMMENT | {"content": "[deleted]"})
    assert comment.is_deleted
    assert comment.author == "iris_bot"
    assert not read_comment(OPEN_COMMENT | {"content": "is it [deleted]"}).is_deleted


def test_a_comment_on_the_post_itself_has_no_parent():
    assert read_comment({"id": "c", "parent_id": "p-1"}).parent_id is None
    assert read_comment({"id": "c"}, above="b").parent_id == "b"


def test_a_missing_parent_is_kept_as_sent():
    assert read_comment({"id": "c", "parent_id": "far away"}).parent_id == "far away"


@pytest.mark.parametrize(
    "sent", [None, 3, "x", [], {}, {"id": None}, {"id": {}}, {"id": "c", "content": 5}]
)
def test_what_is_no_item_says_why(sent: object):
    with pytest.raises(Malformed):
        read_comment(sent)


def test_a_strange_moment_does_not_cost_us_the_words():
    assert read_comment({"id": "c", "content": "x", "created_at": "soon"}).created_at == NOON


def test_what_cannot_be_stored_is_replaced():
    comment = read_comment({"id": "c", "content": "a\x00b\ud800"})
    assert comment.content == "a\ufffdb\ufffd"
    assert "\x00" not in comment.raw["content"]


def test_raw_keeps_what_was_sent_without_the_replies():
    comment = read_comment(OPEN_COMMENT | {"replies": [{"id": "r"}]})
    assert "replies" not in comment.raw
    assert comment.raw["score"] == 0


@settings(deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["id", "content", "author", "parent_id", "created_at", "replies", "title"]),
        inner, max_size=5,
    ),
    max_leaves=25,
))  # fmt: skip
def test_no_json_whatever_breaks_the_reading(sent: Any):
    for node, above in parse.walk([sent]):
        try:
            item = read_comment(node, above=above)
            parse.parents_first([item, item])
        except Malformed:
            pass
    if isinstance(sent, dict):
        parse.sent(sent, "comment", now=NOON)
        parse.next_cursor(sent)


# ── trees ─────────────────────────────────────────────────────────────────


def test_a_very_deep_tree_is_walked_without_recursion():
    root: dict[str, Any] = {"id": "0"}
    node = root
    for depth in range(1, 5000):
        node["replies"] = [{"id": str(depth)}]
        node = node["replies"][0]
    walked = list(parse.walk([root]))
    assert len(walked) == 5000
    assert walked[-1][1] == "4998"


def test_parents_come_before_children_however_they_arrive():
    sent = [("d", "c"), ("c", "b"), ("x", "gone"), ("b", "a"), ("a", None)]
    items = [read_comment({"id": name, "parent_id": above}) for name, above in sent]
    order = [item.remote_id for item in parse.parents_first(items)]
    assert len(order) == 5
    assert order.index("a") < order.index("b") < order.index("c") < order.index("d")


def test_a_circle_of_parents_loses_nobody():
    items = [
        read_comment({"id": a, "parent_id": b}) for a, b in (("a", "b"), ("b", "a"), ("c", "c"))
    ]
    assert {item.remote_id for item in parse.parents_first(items)} == {"a", "b", "c"}


# ── challenges ────────────────────────────────────────────────────────────

PUZZLE = {
    "verification_code": "moltbook_verify_1",
    "challenge_text": "two plus two",
    "expires_at": "2026-06-22 21:42:16+00",
}


@pytest.mark.parametrize(
    "body",
    [
        {"comment": {"id": "c", "verification_status": "pending", "verification": PUZZLE}},
        {"data": {"comment": {"id": "c", "verification": PUZZLE}}},
        {"data": {"id": "c", "verification": PUZZLE}},
        {"comment": {"id": "c"}, "verification": PUZZLE, "verification_required": True},
        {"comment": {"id": "c"}, "data": {"verification": PUZZLE}},
        {
            "comment": {"id": "c"},
            "verification": {
                "code": "moltbook_verify_1",
                "challenge": "two plus two",
                "expires_at": "2026-06-22 21:42:16+00",
                "verify_endpoint": "/elsewhere",
            },
        },
        {
            "comment": {
                "id": "c",
                "verificationStatus": "pending",
                "verification": {
                    "verificationCode": "moltbook_verify_1",
                    "challengeText": "two plus two",
                    "expiresAt": "2026-06-22T21:42:16Z",
                },
            }
        },
    ],
)
def test_a_challenge_is_found_wherever_it_is_put(body: dict[str, Any]):
    sent = parse.sent(body, "comment", now=NOON)
    assert sent
    assert sent.challenge
    assert (sent.remote_id, sent.challenge.code) == ("c", "moltbook_verify_1")
    assert sent.challenge.text == "two plus two"
    assert sent.challenge.expires_at == datetime(2026, 6, 22, 21, 42, 16, tzinfo=UTC)


def test_a_challenge_with_a_strange_end_has_five_minutes():
    body = {"post": {"id": "p", "verification": PUZZLE | {"expires_at": "soon"}}}
    sent = parse.sent(body, "post", now=NOON)
    assert sent
    assert sent.challenge
    assert sent.challenge.expires_at == NOON + timedelta(minutes=5)


def test_without_a_challenge_it_is_published_at_once():
    sent = parse.sent({"comment": {"id": "c", "content": "x"}}, "comment", now=NOON)
    assert sent
    assert sent.challenge is None
