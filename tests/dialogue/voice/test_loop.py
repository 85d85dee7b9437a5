"""The loop: a model calls tools until it answers. Every call reaches the belt once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from threading import get_ident
from typing import Any

import pytest

from dialogue.errors import LeaseLost, LimitReached, ToolBroken, VoiceStopping
from dialogue.voice import open_voice
from dialogue.voice.base import CallOutcome, Ending, GenerationSettings, ModelConfig, Reply
from tests.dialogue.voice.belts import Made, NotedBelt, found, hangs
from tests.dialogue.voice.requests import brief, mind, streamed, styled
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI, Outcome

SEARCH = ("hub_search", {"query": "tides"})


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def write(
    *minds: ModelConfig, belt: NotedBelt, watch: Watching | None = None, **given: Any
) -> Ending:
    voice = open_voice("model", minds, GenerationSettings(timeout=10))
    return voice.write(brief(**given), watch or Watching(), tools=belt)


# ── the story ─────────────────────────────────────────────────────────────


@streamed
@styled
def test_an_agent_with_tools_may_answer_at_once(fake: FakeOpenAI, style: str, streams: bool):
    belt, watch = NotedBelt(), Watching()
    written = write(mind(fake, output_style=style, streams=streams), belt=belt, watch=watch)
    assert isinstance(written, Reply)
    assert belt.made == []
    assert watch.ends_of == ["answered"]
    assert "hub_search" in fake.requests[0].offered


@streamed
@styled
def test_a_tool_is_called_and_its_result_shown_before_the_answer(
    fake: FakeOpenAI, style: str, streams: bool
):
    belt, watch = NotedBelt(), Watching()
    fake.script(Outcome("calls", calls=[SEARCH]), "good")
    written = write(mind(fake, output_style=style, streams=streams), belt=belt, watch=watch)

    assert isinstance(written, Reply)
    [made] = belt.made
    assert (made.name, json.loads(made.arguments)) == ("hub_search", {"query": "tides"})
    assert fake.requests[1].results == ["Found three posts about tides."]
    assert watch.ends_of == ["answered", "answered"]
    assert "hub_search" in watch.lines[0].said["words"], "the call is in the transcript"
    assert "Found three posts about tides." in watch.lines[1].facts["shown"]
    assert belt.threads == {get_ident()}, "rows are read in the thread of the caller"


@streamed
def test_calls_of_one_answer_run_at_the_same_time(fake: FakeOpenAI, streams: bool):
    async def slow(made: Made) -> CallOutcome:
        await asyncio.sleep(0.2)
        return found(made)

    belt = NotedBelt(does={"hub_search": slow})
    calls = [("hub_search", {"query": word}) for word in ("tides", "moons", "nets")]
    fake.script(Outcome("calls", calls=calls), "good")
    write(mind(fake, streams=streams), belt=belt)
    assert belt.most_at_once == 3
    assert [each.split()[-1] for each in fake.requests[1].results] == ["tides.", "moons.", "nets."]


def test_a_model_may_call_tools_again_and_again_within_its_limits(fake: FakeOpenAI):
    belt = NotedBelt()
    fake.script(*[Outcome("calls", calls=[SEARCH])] * 6, "good")
    assert isinstance(write(mind(fake), belt=belt), Reply)
    assert [made.call_id for made in belt.made] == [f"call-{n}" for n in range(1, 7)]


def test_an_answer_with_calls_beside_it_is_taken_once_they_have_run(fake: FakeOpenAI):
    belt = NotedBelt()
    fake.script(Outcome("calls-and-answer", calls=[SEARCH]))
    assert isinstance(write(mind(fake), belt=belt), Reply)
    assert belt.names == ["hub_search"]
    assert len(fake.requests) == 1


def test_tools_are_offered_as_they_are_granted_at_each_step(fake: FakeOpenAI):
    belt = NotedBelt(granted=lambda step: ("hub_search", "recall")[: 3 - step])
    fake.script(Outcome("calls", calls=[SEARCH]), "good")
    write(mind(fake), belt=belt)
    assert [sorted(seen.offered) for seen in fake.requests] == [
        ["hub_search", "recall", "write"],
        ["hub_search", "write"],
    ]


def test_the_schema_of_a_tool_is_sent_as_it_is(fake: FakeOpenAI):
    write(mind(fake), belt=NotedBelt())
    [tool] = [it for it in fake.requests[0].body["tools"] if it["function"]["name"] == "hub_search"]
    assert tool["function"]["parameters"]["required"] == ["query"]
    assert not tool["function"].get("strict")


# ── bad calls are results, not ends ───────────────────────────────────────

BAD = {
    "unknown": ("rm_rf", {"path": "/"}),
    "not-granted": ("hub_post", {"content": "Hello."}),
    "stand-in": ("tool_not_offered", {}),
    "no-name": ("", {"query": "tides"}),
    "name-of-megabytes": ("x" * 100_000, {}),
    "half-character-in-name": ("hub\ud800search", {}),
    "no-json": ("hub_search", "{query: tides"),
    "nothing": ("hub_search", ""),
    "a-list": ("hub_search", "[1, 2]"),
    "a-word": ("hub_search", '"tides"'),
    "wrong-types": ("hub_search", {"question": 4}),
    "nul": ("hub_search", '{"query\\u0000": "\\u0000"}'),
    "raw-nul": ("hub_search", '{"query": "\0"}'),
    "half-character": ("hub_search", '{"quest": "\\ud800"}'),
    "raw-half-character": ("hub_search", '{"quest": "\ud800"}'),
    "half-a-megabyte": ("hub_search", {"quest": "a" * 500_000}),
    "deep": ("hub_search", "[" * 50_000),
    "a-number-without-end": ("hub_search", '{"quest": ' + "9" * 5_000 + "}"),
    "not-a-number": ("hub_search", '{"quest": NaN}'),
}


@streamed
@pytest.mark.parametrize("name", BAD)
def test_a_bad_call_reaches_the_belt_and_its_error_the_model(
    fake: FakeOpenAI, name: str, streams: bool
):
    belt, watch = NotedBelt(), Watching()
    fake.script(Outcome("calls", calls=[BAD[name]]), "good")
    written = write(mind(fake, streams=streams), belt=belt, watch=watch)

    assert isinstance(written, Reply)
    [made] = belt.made
    if name not in ("no-name", "name-of-megabytes"):
        assert made.name == BAD[name][0]
    [result] = fake.requests[1].results
    assert "arguments" in result or "no tool" in result
    assert watch.ends_of == ["answered", "answered"]


def test_ten_bad_calls_in_a_row_end_nothing(fake: FakeOpenAI):
    belt = NotedBelt()
    bad = [Outcome("calls", calls=[call]) for call in list(BAD.values())[:8]]
    fake.script(*bad, "good")
    assert isinstance(write(mind(fake), belt=belt), Reply)
    assert len(belt.made) == 8


@streamed
def test_two_calls_of_one_id_are_two_calls(fake: FakeOpenAI, streams: bool):
    belt = NotedBelt()
    calls = [("hub_search", {"query": word}) for word in ("tides", "moons")]
    fake.script(Outcome("calls", calls=calls, ids=["same", "same"]), "good")
    write(mind(fake, streams=streams), belt=belt)
    assert [made.call_id for made in belt.made] == ["call-1", "call-2"]
    assert [each.split()[-1] for each in fake.requests[1].results] == ["tides.", "moons."]


def test_an_id_that_comes_again_later_is_another_call(fake: FakeOpenAI):
    belt = NotedBelt()
    fake.script(*[Outcome("calls", calls=[SEARCH], ids=["same"])] * 2, "good")
    write(mind(fake), belt=belt)
    assert [made.call_id for made in belt.made] == ["call-1", "call-2"]


def test_a_result_that_no_request_could_hold_is_cleaned(fake: FakeOpenAI):
    key = "sk-0123456789abcdefghijklmn"
    belt = NotedBelt(does={"hub_search": lambda made: CallOutcome(text=f"a\0b\ud800c {key}")})
    fake.script(Outcome("calls", calls=[SEARCH]), "good")
    write(mind(fake), belt=belt)
    assert fake.requests[1].results == ["abc [key]"]


# ── what ends the loop ────────────────────────────────────────────────────


# Streamed, the library reads a few hundred calls a second; the timeout of the request bounds that.
@pytest.mark.parametrize(("number", "streams"), [(10_000, False), (300, True)])
def test_ten_thousand_calls_in_one_answer_run_as_many_as_are_left(
    fake: FakeOpenAI, number: int, streams: bool
):
    belt, watch = NotedBelt(most=30), Watching()
    fake.script(Outcome("calls", calls=[SEARCH] * number), "good")
    with pytest.raises(LimitReached, match="30 tool calls"):
        write(mind(fake, streams=streams), belt=belt, watch=watch)
    assert len(belt.made) == 30
    assert len(belt.ended) == 30, "none was cut off"
    assert watch.ends_of == ["answered"]


def test_the_other_calls_of_an_answer_end_before_a_limit_ends_the_loop(fake: FakeOpenAI):
    async def slow(made: Made) -> CallOutcome:
        await asyncio.sleep(0.3)
        ended.append(made.call_id)
        return found(made)

    ended: list[str] = []
    belt = NotedBelt(does={"hub_search": slow}, most=2)
    fake.script(Outcome("calls", calls=[SEARCH] * 3), "good")
    with pytest.raises(LimitReached):
        write(mind(fake), belt=belt)
    assert ended == ["call-1", "call-2"]
    assert len(fake.requests) == 1


def test_a_fatal_tool_ends_the_loop_with_its_reason(fake: FakeOpenAI):
    fatal = CallOutcome(text="It is over.", is_fatal=True, why="activation.no_answers")
    belt = NotedBelt(does={"hub_search": found, "hub_post": lambda made: fatal})
    fake.script(Outcome("calls", calls=[SEARCH, ("hub_post", {}), SEARCH]), "good")
    with pytest.raises(ToolBroken, match="switched off"):
        write(mind(fake), mind(fake, "openai:second"), belt=belt)
    assert len(belt.ended) == 3, "the others ended first"
    assert len(fake.requests) == 1, "no other model is asked"


def test_a_request_that_a_limit_refuses_is_not_sent(fake: FakeOpenAI):
    def count(number: int) -> None:
        if number == 2:
            raise LimitReached("activation.iterations_used")

    fake.script(*[Outcome("calls", calls=[SEARCH])] * 5)
    watch = Watching(when_asked=count)
    with pytest.raises(LimitReached):
        write(mind(fake), mind(fake, "openai:second"), belt=NotedBelt(), watch=watch)
    assert len(fake.requests) == 2
    assert watch.ends_of == ["answered", "answered"]


def test_a_call_under_way_is_cancelled_when_the_time_is_used(fake: FakeOpenAI):
    looks = iter(range(1_000))
    belt = NotedBelt(does={"hub_search": hangs})
    watch = Watching(time_left=lambda: not belt.made or next(looks) < 5)
    fake.script(Outcome("calls", calls=[SEARCH, SEARCH]), "good")
    with pytest.raises(LimitReached, match="300 seconds"):
        write(mind(fake), belt=belt, watch=watch)
    assert len(belt.ended) == 2
    assert watch.ends_of == ["answered"]


def test_a_request_under_way_is_cancelled_when_the_time_is_used(fake: FakeOpenAI):
    looks = iter(range(1_000))
    watch = Watching(time_left=lambda: next(looks) < 5)
    fake.script(Outcome("hang", seconds=20))
    with pytest.raises(LimitReached, match="300 seconds"):
        write(mind(fake), mind(fake, "openai:second"), belt=NotedBelt(), watch=watch)
    assert watch.ends_of == ["failed"]


def test_no_request_is_begun_without_time(fake: FakeOpenAI):
    watch = Watching(time_left=lambda: False)
    with pytest.raises(LimitReached):
        write(mind(fake), belt=NotedBelt(), watch=watch)
    assert (fake.requests, watch.lines) == ([], [])


def test_a_call_under_way_is_cancelled_when_the_worker_stops(fake: FakeOpenAI):
    belt = NotedBelt(does={"hub_search": hangs})
    watch = Watching(ends=lambda: bool(belt.made))
    fake.script(Outcome("calls", calls=[SEARCH]), "good")
    with pytest.raises(VoiceStopping):
        write(mind(fake), belt=belt, watch=watch)
    assert len(belt.ended) == 1


def test_a_worker_that_lost_its_lease_in_a_call_writes_nothing_more(fake: FakeOpenAI):
    def lost(made: Made) -> CallOutcome:
        raise LeaseLost

    belt, watch = NotedBelt(does={"hub_search": lost}), Watching()
    fake.script(Outcome("calls", calls=[SEARCH]), "good")
    with pytest.raises(LeaseLost):
        write(mind(fake), belt=belt, watch=watch)
    assert watch.ends_of == ["answered"]
