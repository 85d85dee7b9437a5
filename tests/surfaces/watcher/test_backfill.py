"""A backfill keeps its place, waits for the limits and ends by itself."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from surfaces.adapters.moltbook import Moltbook
from surfaces.adapters.types import ItemPage
from surfaces.errors import SurfaceError
from surfaces.models import Account, Message, ReadingPlace, Surface
from surfaces.watcher import backfill as backfills
from surfaces.watcher.backfill import backfill
from tests.fakes.moltbook import FakeMoltbook
from tests.surfaces.watcher.factories import connected, look

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
LIMITS = {"general": (100, 60.0), "read": (60, 60.0)}
KNOWN = {"open": {"general": [100, 60]}, "live": {"read": [60, 60]}}


class History:
    def __init__(self, fake: FakeMoltbook, posts: int) -> None:
        self.fake, self.slept = fake, list[float]()
        fake.key = fake.add_agent("iris")
        fake.add_agent("nightjar")
        self.posts = [fake.add_post("iris", f"On tides {n}") for n in range(posts)]
        for post in self.posts:
            fake.add_comment(post, "nightjar", f"What of {post[:8]}?")
        self.account = connected(fake)

    def clock(self) -> datetime:
        return datetime.fromtimestamp(self.fake.world.now(), UTC)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.fake.advance(seconds)

    def steps(self) -> Iterator[backfills.BackfillStep]:
        account = Account.objects.get(pk=self.account.pk)
        return backfill(account, clock=self.clock, sleep=self.sleep)


@pytest.fixture(params=["open", "live"])
def fake(request: Any) -> Iterator[FakeMoltbook]:
    with FakeMoltbook(dialect=request.param, limits=LIMITS) as fake:
        yield fake


@pytest.mark.parametrize(("limits", "posts"), [("entered", 300), ("unknown", 70)])
def test_three_hundred_posts_end_by_themselves_within_the_limit(
    fake: FakeMoltbook, limits: str, posts: int
):
    history = History(fake, posts)
    if limits == "entered":
        Surface.objects.update(limits=KNOWN[fake.world.dialect])
    steps = list(history.steps())
    minutes = sum(history.slept) / 60
    print(f"{fake.world.dialect}, limits {limits}: {minutes:.1f} min waited")
    assert steps[-1].posts == posts
    assert Message.objects.comments().count() == posts
    assert any(step.waits_until for step in steps)
    assert all(step.why for step in steps if step.waits_until)
    assert minutes < 15
    if limits == "entered":
        assert 429 not in {status for _, _, status in fake.requests}
    assert ReadingPlace.objects.get().ended_at is not None


def test_a_backfill_that_was_stopped_goes_on_where_it_ended(fake: FakeMoltbook):
    history = History(fake, 12)
    steps = history.steps()
    for _ in range(5):
        next(steps)
    steps.close()
    fake.requests.clear()
    rest = list(history.steps())
    assert [step.posts for step in rest] == list(range(6, 13))
    read = [path for _, path, _ in fake.requests if "comments" in path]
    assert len(read) == 7
    assert Message.objects.comments().count() == 12


def test_a_backfill_that_came_to_its_end_begins_anew(fake: FakeMoltbook):
    history = History(fake, 3)
    assert len(list(history.steps())) == len(list(history.steps())) == 3


def test_a_round_in_between_does_not_lose_the_place(fake: FakeMoltbook):
    history = History(fake, 12)
    steps = history.steps()
    for _ in range(5):
        next(steps)
    look(history.account, clock=history.clock)
    assert next(steps).posts == 6
    assert ReadingPlace.objects.get().posts == 6


def test_a_wait_that_the_service_names_is_waited(fake: FakeMoltbook):
    history = History(fake, 3)
    fake.fault("429-retry_after_seconds", match="GET .*comments", seconds=77)
    steps = list(history.steps())
    assert [step.posts for step in steps if not step.waits_until] == [1, 2, 3]
    assert max(history.slept) == pytest.approx(77, abs=1)


def test_a_thread_that_is_refused_does_not_stop_the_others(fake: FakeMoltbook):
    history = History(fake, 3)
    fake.fault("400-array", match=f"GET .*{history.posts[1]}/comments")
    [*_, last] = history.steps()
    assert (last.posts, last.skipped) == (3, 1)
    assert Message.objects.comments().count() == 2


def test_a_service_that_stays_down_ends_the_run_and_keeps_its_place(fake: FakeMoltbook):
    history = History(fake, 3)
    steps = history.steps()
    next(steps)
    fake.fault("503", times=1000)
    with pytest.raises(SurfaceError):
        list(steps)
    fake.clear_faults()
    assert [step.posts for step in history.steps()] == [2, 3]


def test_the_command_is_quiet_in_a_pipe_and_ends_with_one_line(
    fake: FakeMoltbook, monkeypatch: Any
):
    history = History(fake, 2)
    told, errors = io.StringIO(), io.StringIO()
    call_command("backfill", history.account.name, stdout=told, stderr=errors)
    assert errors.getvalue() == ""
    assert json.loads(told.getvalue())["posts"] == 2


def test_the_command_says_that_it_waits_and_until_when(fake: FakeMoltbook, monkeypatch: Any):
    history = History(fake, 2)
    fake.fault("429-retry_after_seconds", match="GET .*comments", seconds=77)
    from surfaces.management.commands.backfill import describe

    said = [describe(step) for step in history.steps() if step.waits_until]
    assert len(said) == 1
    assert "waits until" in said[0]


def test_the_command_stopped_by_hand_says_how_to_go_on(fake: FakeMoltbook, monkeypatch: Any):
    history = History(fake, 2)

    def stop(*args: Any, **given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(backfills, "read_thread", stop)
    with pytest.raises(CommandError, match="Run the command again to continue"):
        call_command("backfill", history.account.name)


def test_a_list_that_leads_back_to_an_earlier_page_ends(fake: FakeMoltbook, monkeypatch: Any):
    history = History(fake, 3)
    read, pages = Moltbook.history, []

    def alternating(reader: Moltbook, cursor: str | None) -> ItemPage:
        pages.append(cursor)
        assert len(pages) < 10
        return replace(read(reader, None), cursor="b" if cursor == "a" else "a")

    monkeypatch.setattr(Moltbook, "history", alternating)
    assert len(list(history.steps())) == 3
    assert ReadingPlace.objects.get().ended_at
