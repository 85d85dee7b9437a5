"""Moltbook's puzzles, from the reply they come with to the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from surfaces.adapters.moltbook.writer import MoltbookWriter
from surfaces.adapters.types import CannotTell, Challenge, SentItem, Verified
from surfaces.errors import (
    Limited,
    NotThere,
    Refused,
    SurfaceError,
    Suspended,
    Unconfirmed,
)
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import NOON, Purse, pretend, reading, writing


@pytest.fixture
def strict() -> Iterator[FakeMoltbook]:
    """The live site, with puzzles."""
    with FakeMoltbook(dialect="live", challenges=True) as fake:
        yield fake


def say(
    writer: MoltbookWriter, post: str, text: str = "because", parent: str | None = None
) -> SentItem:
    return writer.reply(post_id=post, parent_id=parent, text=text, key="intent-1")


# ── challenges ────────────────────────────────────────────────────────────


def test_a_puzzle_comes_with_the_reply_and_can_be_answered(strict: FakeMoltbook):
    key, post = strict.add_agent("iris"), strict.add_post("bob")
    with writing(strict, key) as iris:
        sent = say(iris, post)
        assert sent.challenge
        assert strict.comments[sent.remote_id].is_pending
        assert iris.answer_challenge(sent.challenge) is Verified.YES
        assert not strict.comments[sent.remote_id].is_pending
        assert iris.answer_challenge(sent.challenge) is Verified.USED


def test_a_puzzle_comes_with_a_post_too(strict: FakeMoltbook):
    with writing(strict, strict.add_agent("iris")) as iris:
        sent = iris.create_post(title="t", text="x", community="general", key="k")
        assert sent.challenge
        assert sent.challenge.expires_at > datetime.now(UTC) + timedelta(minutes=4)
        assert iris.answer_challenge(sent.challenge) is Verified.YES


def test_a_late_answer_is_expired(strict: FakeMoltbook):
    key, post = strict.add_agent("iris"), strict.add_post("bob")
    with writing(strict, key) as iris:
        sent = say(iris, post)
        assert sent.challenge
        strict.fault("challenge-expired", match="POST /verify")
        assert iris.answer_challenge(sent.challenge) is Verified.EXPIRED


def puzzle(text: str = "two plus two", code: str = "moltbook_verify_1") -> Challenge:
    return Challenge(code=code, text=text, expires_at=NOON)


def test_a_wrong_answer_is_wrong(strict: FakeMoltbook):
    key, post = strict.add_agent("iris"), strict.add_post("bob")
    with writing(strict, key) as iris:
        sent = say(iris, post)
        assert sent.challenge
        wrong = puzzle("two plus two", sent.challenge.code)
        assert iris.answer_challenge(wrong) is Verified.WRONG


def test_an_unknown_code_is_over(strict: FakeMoltbook):
    with writing(strict, strict.add_agent("iris")) as iris:
        assert iris.answer_challenge(puzzle()) is Verified.EXPIRED


def test_a_puzzle_nobody_can_solve_is_not_guessed(strict: FakeMoltbook):
    with writing(strict, strict.add_agent("iris")) as iris, pytest.raises(Refused, match="solved"):
        iris.answer_challenge(puzzle("how many tears has the sea"))
    assert strict.requests == []


def test_ten_failures_in_a_row_suspend(strict: FakeMoltbook):
    key, post = strict.add_agent("iris"), strict.add_post("bob")
    with writing(strict, key) as iris:
        for _ in range(10):
            say(iris, post)
            strict.advance(301)
        with pytest.raises(Suspended):
            say(iris, post)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, {"success": True}, Verified.YES),
        (200, {"success": False, "error": "Incorrect"}, Verified.WRONG),
        (400, {"success": False, "error": "Incorrect"}, Verified.WRONG),
        (409, {"message": "used"}, Verified.USED),
        (410, {"message": "expired"}, Verified.EXPIRED),
        (404, {"message": "Verification code not found"}, Verified.EXPIRED),
    ],
)
def test_every_verdict_has_its_name(status: int, body: Any, outcome: Verified):
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(status, json=body)

    assert MoltbookWriter(pretend(answer)).answer_challenge(puzzle()) is outcome
    assert sent == [{"verification_code": "moltbook_verify_1", "answer": "4.00"}]


@pytest.mark.parametrize(
    ("status", "body", "meaning"),
    [
        (200, {"message": "hm"}, Unconfirmed),
        (200, [], Unconfirmed),
        (500, {}, Unconfirmed),
        (400, {"statusCode": 400, "message": ["answer must be a string"]}, Refused),
        (404, {"error": "Endpoint not found"}, NotThere),
        (429, {"retry_after_seconds": 3}, Limited),
        (401, {"error": "Account suspended"}, Suspended),
    ],
)
def test_what_is_no_verdict_is_raised(status: int, body: Any, meaning: type[SurfaceError]):
    iris = MoltbookWriter(pretend(lambda request: httpx.Response(status, json=body)))
    with pytest.raises(SurfaceError) as raised:
        iris.answer_challenge(puzzle())
    assert type(raised.value) is meaning


def test_an_answer_is_not_kept_waiting_by_other_budgets():
    purse = Purse()
    iris = MoltbookWriter(
        pretend(lambda request: httpx.Response(200, json={"success": True}), meter=purse)
    )
    iris.answer_challenge(puzzle())
    assert purse.taken == ["verify"]


def test_a_hidden_comment_without_its_challenge_is_in_doubt():
    """It is never shown, so it does not count as sent."""
    made = {"id": "c1", "content": "because", "verification_status": "pending"}
    made["verification"] = {"verification_code": "moltbook_verify_1"}
    access = pretend(lambda _: httpx.Response(201, json={"success": True, "comment": made}))
    with pytest.raises(Unconfirmed):
        say(MoltbookWriter(access), "p1")


def test_our_own_hidden_text_is_neither_found_nor_absent():
    """Its sender died before the challenge was stored; nobody can read it."""
    with FakeMoltbook(dialect="live", challenges=True, hide_pending=False) as fake:
        key = fake.add_agent("iris")
        post = fake.add_post("iris", "On tides")
        fake.posts[post].is_pending = False
        with writing(fake, key) as iris:
            assert say(iris, post).challenge
        with reading(fake, key) as reader:
            look = reader.find_own_reply(post_id=post, parent_id=None, text="because", since=NOON)
            assert isinstance(look, CannotTell)
            assert "because" not in [c.content for c in reader.thread(post).comments]
