"""Calls that wait for an operator: the conversation is kept, and goes on when they are decided."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dialogue.errors import LimitReached, ToolBroken, VoiceBroken, VoiceTooLong
from dialogue.voice import open_voice
from dialogue.voice.base import (
    CallOutcome,
    GenerationSettings,
    ModelConfig,
    Reply,
    SuspendedConversation,
)
from dialogue.voice.llm import history
from tests.dialogue.voice.belts import NotedBelt, found, waits
from tests.dialogue.voice.requests import KEY, brief, mind, streamed, styled
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI, Outcome

SEARCH = ("hub_search", {"query": "tides"})
POST = ("hub_post", {"content": "Hello."})
DOES = {"hub_search": found, "hub_post": waits}


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def belt_with(**outcomes: CallOutcome) -> NotedBelt:
    named = {name.replace("_", "-"): outcome for name, outcome in outcomes.items()}
    return NotedBelt(does=DOES, granted=lambda step: ("hub_search", "hub_post"), outcomes=named)


def write(
    *minds: ModelConfig,
    belt: NotedBelt | None,
    watch: Watching | None = None,
    suspended: SuspendedConversation | None = None,
    **given: Any,
) -> Any:
    voice = open_voice("model", minds, GenerationSettings(timeout=10))
    return voice.write(brief(**given), watch or Watching(), tools=belt, suspended=suspended)


def suspended_by(fake: FakeOpenAI, *calls: Any, **given: Any) -> SuspendedConversation:
    fake.script(Outcome("calls", calls=calls or [POST]))
    kept = write(mind(fake, **given), belt=belt_with())
    assert isinstance(kept, SuspendedConversation)
    return kept


@streamed
@styled
def test_a_call_that_waits_suspends_and_its_outcome_goes_on(
    fake: FakeOpenAI, style: str, streams: bool
):
    given = {"output_style": style, "streams": streams}
    kept = suspended_by(fake, POST, **given)
    assert kept.model == "openai:gpt-4o-mini"
    belt = belt_with(call_1=CallOutcome(text="Draft 5 was written and waits."))
    assert isinstance(write(mind(fake, **given), belt=belt, suspended=kept), Reply)
    assert belt.made == [], "it is not called again"
    assert fake.requests[1].results == ["Draft 5 was written and waits."]
    assert "Why does the tide not ask the harbour?" in fake.requests[1].user


def test_the_other_calls_of_the_answer_run_first_and_their_results_are_kept(fake: FakeOpenAI):
    kept = suspended_by(fake, SEARCH, POST, SEARCH)
    belt = belt_with(call_2=CallOutcome(text="Posted."))
    write(mind(fake), belt=belt, suspended=kept)
    told = "Found three posts about tides."
    assert sorted(fake.requests[1].results) == sorted([told, told, "Posted."])
    assert belt.made == []


@pytest.mark.parametrize(
    "words",
    ["Denied by an operator: not today.", "Nobody decided within 24 hours.", "The thread changed."],
    ids=["denied", "expired", "stale"],
)
def test_what_became_of_the_call_reaches_the_model(fake: FakeOpenAI, words: str):
    kept = suspended_by(fake)
    belt = belt_with(call_1=CallOutcome(text=words, is_error=True))
    assert isinstance(write(mind(fake), belt=belt, suspended=kept), Reply)
    [result] = fake.requests[1].results
    assert words in result


def test_a_call_without_an_outcome_is_told_as_not_run(fake: FakeOpenAI):
    kept = suspended_by(fake, POST, POST)
    belt = belt_with(call_1=CallOutcome(text="Posted."), call_9=CallOutcome(text="Who?"))
    assert isinstance(write(mind(fake), belt=belt, suspended=kept), Reply)
    assert fake.requests[1].results[0] == "Posted."
    assert "nothing was run" in fake.requests[1].results[1]


def test_an_agent_that_lost_all_its_tools_meanwhile_goes_on_without(fake: FakeOpenAI):
    kept = suspended_by(fake)
    assert isinstance(write(mind(fake), belt=None, suspended=kept), Reply)
    assert fake.requests[1].offered == ["write"]
    assert "nothing was run" in fake.requests[1].results[0]


def test_a_tool_that_is_no_longer_granted_does_not_stop_its_outcome(fake: FakeOpenAI):
    kept = suspended_by(fake)
    belt = belt_with(call_1=CallOutcome(text="Posted."))
    belt.granted = lambda step: ()
    assert isinstance(write(mind(fake), belt=belt, suspended=kept), Reply)
    assert fake.requests[1].results == ["Posted."]


def test_a_conversation_may_wait_again_and_its_ids_go_on(fake: FakeOpenAI):
    kept = suspended_by(fake, SEARCH, POST)
    fake.script(Outcome("calls", calls=[SEARCH, POST]))
    belt = belt_with(call_2=CallOutcome(text="Posted."))
    again = write(mind(fake), belt=belt, suspended=kept)
    assert isinstance(again, SuspendedConversation)
    assert [made.call_id for made in belt.made] == ["call-3", "call-4"]
    last = belt_with(call_4=CallOutcome(text="Posted, too."))
    assert isinstance(write(mind(fake), belt=last, suspended=again), Reply)
    assert "Posted, too." in fake.requests[2].results
    assert len(fake.requests[2].results) == 4


def test_asking_for_the_same_again_and_again_is_bounded_by_the_limits(fake: FakeOpenAI):
    def asking_again() -> None:
        kept = None
        for asked in range(100):
            belt = belt_with(**{f"call_{asked}": CallOutcome(text="Denied.", is_error=True)})
            watch = Watching(when_asked=lambda number: count(number + asked))  # noqa: B023
            kept = write(mind(fake), belt=belt, watch=watch, suspended=kept)

    def count(number: int) -> None:
        if number >= 5:
            raise LimitReached("activation.iterations_used")

    fake.always(Outcome("calls", calls=[POST]))
    with pytest.raises(LimitReached):
        asking_again()
    assert len(fake.requests) == 5


def test_an_answer_beside_a_call_that_waits_is_asked_for_again(fake: FakeOpenAI):
    fake.script(Outcome("calls-and-answer", calls=[POST]))
    kept = write(mind(fake), belt=belt_with())
    assert isinstance(kept, SuspendedConversation)
    belt = belt_with(call_1=CallOutcome(text="Posted."))
    assert isinstance(write(mind(fake), belt=belt, suspended=kept), Reply)
    assert any("Not taken yet" in result for result in fake.requests[1].results)


def test_a_fatal_outcome_ends_the_activation(fake: FakeOpenAI):
    kept = suspended_by(fake)
    belt = belt_with(call_1=CallOutcome(text="Refused.", is_fatal=True, why="activation.moved"))
    with pytest.raises(ToolBroken, match="external agent"):
        write(mind(fake), belt=belt, suspended=kept)
    assert len(fake.requests) == 1


def test_a_call_that_still_waits_stays_suspended(fake: FakeOpenAI):
    kept = suspended_by(fake)
    belt = belt_with(call_1=CallOutcome(is_waiting=True))
    assert write(mind(fake), belt=belt, suspended=kept) == kept


def test_the_model_that_began_goes_on_and_another_takes_over_when_it_fails(fake: FakeOpenAI):
    kept = suspended_by(fake, model="openai:second")
    fake.script("500", "good")
    minds = [mind(fake, f"openai:{name}") for name in ("first", "second", "third")]
    belt = belt_with(call_1=CallOutcome(text="Posted."))
    assert isinstance(write(*minds, belt=belt, suspended=kept), Reply)
    assert [seen.body["model"] for seen in fake.requests] == ["second", "second", "first"]
    assert fake.requests[2].results == ["Posted."]


def test_a_model_that_cannot_even_be_opened_leaves_the_outcomes_to_the_next(fake: FakeOpenAI):
    kept = suspended_by(fake)
    belt = belt_with(call_1=CallOutcome(text="Posted."))
    broken = mind(fake, base_url="ftp://nowhere")
    assert isinstance(write(broken, mind(fake, "openai:b"), belt=belt, suspended=kept), Reply)
    assert fake.requests[1].results == ["Posted."]


# ── what is kept ──────────────────────────────────────────────────────────


def test_no_secret_is_kept_and_what_is_kept_is_json(fake: FakeOpenAI):
    other = "sk-0123456789abcdefghijklmn"
    call = ("hub_post", {"content": f"{KEY} and {other}", KEY: "is a name"})
    kept = suspended_by(fake, call, ("hub_post", f"no json {KEY}"), (f"no {KEY}", {}))
    assert KEY not in kept.messages
    assert other not in kept.messages
    assert json.loads(kept.messages)
    write(mind(fake), belt=belt_with(), suspended=kept)


@pytest.mark.parametrize("stored", ["", "{}", "[{}]", '[{"kind": "response"}]', "null"])
def test_what_cannot_be_read_is_one_failed_try(fake: FakeOpenAI, stored: str):
    kept = SuspendedConversation(model="openai:gpt-4o-mini", messages=stored)
    with pytest.raises(VoiceBroken, match="cannot be read"):
        write(mind(fake), belt=belt_with(), suspended=kept)


def test_a_conversation_over_two_megabytes_is_too_long(
    fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(history, "LARGEST", 2_000)
    fake.script(Outcome("calls", calls=[POST]))
    belt = belt_with()
    with pytest.raises(VoiceTooLong, match="too long to be kept"):
        write(mind(fake), mind(fake, "openai:second"), belt=belt)
    assert len(belt.made) == 1, "its call is not made again"


def test_every_word_of_the_conversation_comes_back(fake: FakeOpenAI):
    word = "“half” \u6f6e\u6c50 <script>alert(1)</script> \\u0000"
    kept = suspended_by(fake, ("hub_post", {"content": word}))
    kept = replace(kept, messages=json.dumps(json.loads(kept.messages)))
    write(mind(fake), belt=belt_with(), suspended=kept)
    [sent] = [it for it in fake.requests[1].body["messages"] if it.get("tool_calls")]
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == {"content": word}
