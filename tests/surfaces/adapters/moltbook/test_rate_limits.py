"""Budgets and bad days on Moltbook, against a fake of both dialects."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from surfaces.errors import Limited, TryLater
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.adapters.moltbook.access import Purse, reading


@pytest.fixture(params=["open", "live"])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param) as fake:
        yield fake


# ── budgets ───────────────────────────────────────────────────────────────


def test_every_request_is_paid_for_first(fake: FakeMoltbook):
    key, post = fake.add_agent("iris"), fake.add_post("iris")
    purse = Purse()
    with reading(fake, key, meter=purse) as iris:
        iris.thread(post)
        iris.news({}, {})
    assert purse.taken.count("read") == purse.taken.count("general") == len(fake.requests)


def test_a_budget_that_says_no_keeps_the_request_at_home(fake: FakeMoltbook):
    class Empty(Purse):
        def take(self, *buckets: str) -> None:
            raise Limited("spent", wait=timedelta(seconds=9), asked=False)

    with reading(fake, fake.add_agent("iris"), meter=Empty()) as iris, pytest.raises(Limited):
        iris.who_am_i()
    assert fake.requests == []


def test_what_the_service_says_about_the_budget_is_passed_on():
    with FakeMoltbook(dialect="open", limits={"general": (2, 60)}) as fake:
        purse = Purse()
        with reading(fake, fake.add_agent("iris"), meter=purse) as iris:
            iris.who_am_i()
            iris.who_am_i()
            with pytest.raises(Limited) as refused:
                iris.who_am_i()
    assert [told[:2] for told in purse.told] == [("general", 1), ("general", 0), ("general", None)]
    assert timedelta(seconds=58) <= refused.value.wait <= timedelta(seconds=60)
    assert purse.told[-1][2] == refused.value.wait


def test_a_request_is_not_made_where_nothing_is_known_to_be_left():
    with FakeMoltbook(dialect="open", limits={"general": (2, 60)}) as fake:
        purse = Purse()
        with reading(fake, fake.add_agent("iris"), meter=purse) as iris:
            iris.who_am_i()
            iris.who_am_i()
    bucket, left, wait = purse.told[-1]
    assert (bucket, left) == ("general", 0)
    assert timedelta(seconds=58) <= wait <= timedelta(seconds=62)


@pytest.mark.parametrize(
    "shape",
    [
        "429-retry-after",
        "429-retry-after-date",
        "429-retry_after_seconds",
        "429-retryAfter",
        "429-retry_after_minutes",
        "429-retryAfterMinutes",
        "429-reset_at",
        "429-ratelimit-reset",
        "429-words",
    ],
)
def test_every_shape_of_refusal_waits_as_long_as_it_says(fake: FakeMoltbook, shape: str):
    fake.fault(shape, seconds=90)
    with reading(fake, fake.add_agent("iris")) as iris, pytest.raises(Limited) as refused:
        iris.who_am_i()
    assert timedelta(seconds=89) <= refused.value.wait <= timedelta(seconds=93)


# ── bad days ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "fault", ["hang-before", "reset-before", "reset-after", "500-after", "503"]
)
def test_a_bad_moment_is_worth_another_try(fake: FakeMoltbook, fault: str):
    key = fake.add_agent("iris")
    fake.fault(fault, seconds=0.1)
    with reading(fake, key) as iris:
        with pytest.raises(TryLater):
            iris.who_am_i()
        assert iris.who_am_i().handle == "iris"


def test_many_readers_at_once_get_what_is_theirs(fake: FakeMoltbook):
    key = fake.add_agent("iris")
    posts = [fake.add_post("iris", f"post {number}") for number in range(8)]
    titles: dict[str, str] = {}

    def read(post: str) -> None:
        with reading(fake, key) as iris:
            root = iris.thread(post).root
            titles[post] = root.title if root else ""

    threads = [threading.Thread(target=read, args=[post]) for post in posts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [titles[post] for post in posts] == [f"post {number}" for number in range(8)]
