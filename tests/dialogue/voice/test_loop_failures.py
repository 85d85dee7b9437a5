"""Models that fail in the middle of a conversation with tools: no call is ever made twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dialogue.errors import VoiceBroken, VoiceDown, VoiceTooLong
from dialogue.voice import open_voice
from dialogue.voice.base import (
    CallOutcome,
    Ending,
    GenerationSettings,
    ModelConfig,
    NothingToSay,
    Reply,
    ThreadMessage,
)
from tests.dialogue.voice.belts import NotedBelt
from tests.dialogue.voice.requests import THREAD, brief, mind, streamed, why_not
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI, Outcome

SEARCH = ("hub_search", {"query": "tides"})
FOUND = "Found three posts about tides."


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def write(
    *minds: ModelConfig, belt: NotedBelt, watch: Watching | None = None, **given: Any
) -> Ending:
    voice = open_voice("model", minds, GenerationSettings(timeout=5))
    return voice.write(brief(**given), watch or Watching(), tools=belt)


@streamed
@pytest.mark.parametrize(
    "outcome",
    ["429", "500", "401", "cut", "cut-before", "malformed", "length", "calls-length", "calls-cut"],
)
def test_the_next_model_goes_on_where_one_failed(fake: FakeOpenAI, outcome: str, streams: bool):
    belt, watch = NotedBelt(), Watching()
    failing = Outcome(outcome, calls=[SEARCH] if outcome.startswith("calls") else ())
    fake.script(Outcome("calls", calls=[SEARCH]), failing, "good")
    minds = [mind(fake, f"openai:{name}", streams=streams) for name in ("first", "second")]
    assert isinstance(write(*minds, belt=belt, watch=watch), Reply)
    assert [seen.body["model"] for seen in fake.requests] == ["first", "first", "second"]
    assert len(belt.made) == 1, "what ended in the middle of a call was not called"
    assert fake.requests[2].results == [FOUND]
    assert "Why does the tide" in fake.requests[2].user
    assert all(watch.ends_of)


@pytest.mark.parametrize("style", ["tool", "native", "prompted"])
def test_the_next_model_may_speak_in_another_form(fake: FakeOpenAI, style: str):
    belt = NotedBelt()
    fake.script(Outcome("calls", calls=[SEARCH]), "wrong_schema", "wrong_schema", "good")
    minds = [mind(fake, "openai:first"), mind(fake, "openai:second", output_style=style)]
    assert isinstance(write(*minds, belt=belt), Reply)
    assert len(belt.made) == 1
    assert FOUND in fake.requests[3].results


def test_calls_beside_a_wrong_form_are_not_made_again_by_the_next_model(fake: FakeOpenAI):
    belt = NotedBelt()
    wrong = Outcome("calls-and-answer", calls=[SEARCH], words={"terms": ""})
    fake.script(wrong, wrong, "good")
    minds = [mind(fake, f"openai:{name}") for name in ("first", "second")]
    assert isinstance(write(*minds, belt=belt), Reply)
    assert [made.call_id for made in belt.made] == ["call-1", "call-2"]
    assert fake.requests[2].results.count(FOUND) == 2


def test_a_model_that_fails_before_any_call_leaves_nothing_behind(fake: FakeOpenAI):
    fake.script("wrong_schema", "wrong_schema", "good")
    minds = [mind(fake, f"openai:{name}") for name in ("first", "second")]
    write(*minds, belt=NotedBelt())
    assert len(fake.requests[2].body["messages"]) == 2, "the prompt, and nothing of the first"


def test_when_all_fail_the_requests_and_calls_are_all_recorded(fake: FakeOpenAI):
    belt, watch = NotedBelt(), Watching()
    fake.script(Outcome("calls", calls=[SEARCH]), "500", "429")
    with pytest.raises(VoiceDown):
        write(mind(fake), mind(fake, "openai:second"), belt=belt, watch=watch)
    assert watch.ends_of == ["answered", "failed", "failed"]
    assert len(belt.made) == 1


# ── too long ──────────────────────────────────────────────────────────────


def long_belt() -> NotedBelt:
    return NotedBelt(does={"hub_search": lambda made: CallOutcome(text=made.call_id * 500)})


def test_too_long_a_conversation_is_shortened_results_first_then_the_thread(fake: FakeOpenAI):
    calls = Outcome("calls", calls=[SEARCH, SEARCH])
    fake.script(calls, "context_too_long", "context_too_long", "good")
    belt = long_belt()
    assert isinstance(write(mind(fake), belt=belt, thread=THREAD), Reply)
    whole, shorter, shortest = fake.requests[1:]
    assert [len(it) > 1_000 for it in whole.results] == [True, True]
    assert [len(it) > 1_000 for it in shorter.results] == [False, True]
    assert whole.user == shorter.user
    assert len(shortest.user) < len(shorter.user)
    assert len(belt.made) == 2


def test_results_are_shortened_once_and_then_it_is_too_long(fake: FakeOpenAI):
    fake.script(Outcome("calls", calls=[SEARCH]), *["context_too_long"] * 3)
    with pytest.raises(VoiceTooLong):
        write(mind(fake), belt=long_belt(), thread=THREAD)
    assert len(fake.requests) == 4


def test_a_larger_model_goes_on_with_what_was_too_long(fake: FakeOpenAI):
    fake.script(Outcome("calls", calls=[SEARCH]), *["context_too_long"] * 3, "good")
    minds = [mind(fake, f"openai:{name}") for name in ("small", "large")]
    belt = long_belt()
    assert isinstance(write(*minds, belt=belt, thread=THREAD), Reply)
    assert len(belt.made) == 1


# ── answers without the form ──────────────────────────────────────────────


def test_words_without_the_form_are_asked_for_again_and_then_taken_as_a_pointer(fake: FakeOpenAI):
    belt, watch = NotedBelt(), Watching()
    fake.script(Outcome("calls", calls=[SEARCH]), "prose", "prose")
    written = write(mind(fake), belt=belt, watch=watch)
    assert isinstance(written, Reply)
    assert written.terms == ""
    assert written.pointer == written.text
    assert "Why does the tide" in written.text
    assert len(watch.lines) == 3


def test_words_without_the_form_after_which_a_tool_is_called_cost_nothing(fake: FakeOpenAI):
    fake.script("prose", Outcome("calls", calls=[SEARCH]), "good")
    written = write(mind(fake), belt=NotedBelt())
    assert isinstance(written, Reply)
    assert written.terms


def test_half_a_form_is_no_pointer(fake: FakeOpenAI):
    fake.always(Outcome("prose", words={"pointer": '{"terms": "We speak'}))
    with pytest.raises(VoiceBroken):
        write(mind(fake), belt=NotedBelt())
    assert len(fake.requests) == 2


def test_without_tools_words_without_the_form_stay_broken(fake: FakeOpenAI):
    fake.always("prose")
    assert isinstance(why_not(mind(fake)), VoiceBroken)


CANDIDATES = tuple(ThreadMessage(author=f"voice {n}", text=f"Word {n}.") for n in range(3))


def test_an_exploration_answers_one_of_the_posts(fake: FakeOpenAI):
    fake.script(Outcome(words={"post": 3}))
    written = write(mind(fake), belt=NotedBelt(), purpose="explore", candidates=CANDIDATES)
    assert isinstance(written, Reply)
    assert written.target == 3


@pytest.mark.parametrize("post", [0, 4, -1, None, "the second", 10**30])
def test_a_post_that_was_not_shown_is_the_wrong_form(fake: FakeOpenAI, post: Any):
    fake.script(Outcome(words={"post": post}), Outcome(words={"post": 2}))
    written = write(mind(fake), belt=NotedBelt(), purpose="explore", candidates=CANDIDATES)
    assert isinstance(written, Reply)
    assert written.target == 2
    assert len(fake.requests) == 2


@pytest.mark.parametrize("purpose", ["explore", "task"])
@pytest.mark.parametrize("has_tools", [True, False])
def test_nothing_to_engage_with_is_an_outcome_of_its_own(
    fake: FakeOpenAI, purpose: str, has_tools: bool
):
    parts = {"terms": None, "pointer": None, "exit": None, "post": None, "title": None}
    fake.script(Outcome(words=parts | {"nothing": "All of it is answered well."}))
    voice = open_voice("model", [mind(fake)], GenerationSettings(timeout=5))
    written = voice.write(
        brief(purpose=purpose, candidates=CANDIDATES, comment=None), Watching(),
        tools=NotedBelt() if has_tools else None,
    )  # fmt: skip
    assert written == NothingToSay(words="All of it is answered well.")


@pytest.mark.parametrize("style", ["tool", "native", "prompted"])
@pytest.mark.parametrize(
    "said", ["Nothing to engage with right now.", "*nothing to engage with right now*\n"]
)
def test_the_sentence_of_the_documents_is_known_as_plain_text(
    fake: FakeOpenAI, said: str, style: str
):
    fake.script(Outcome("prose", words={"pointer": said}))
    written = write(
        mind(fake, output_style=style), belt=NotedBelt(), purpose="explore", candidates=CANDIDATES
    )
    assert written == NothingToSay(words=said.strip())
    assert len(fake.requests) == 1


def test_a_reply_may_not_be_nothing(fake: FakeOpenAI):
    fake.script(Outcome("prose", words={"pointer": "Nothing to engage with right now."}), "good")
    assert isinstance(write(mind(fake), belt=NotedBelt()), Reply)


def test_a_task_ends_in_a_post_or_in_a_report(fake: FakeOpenAI):
    given = {"purpose": "task", "comment": None, "task": "Look around.", "longest_title": 80}
    written = write(mind(fake), belt=NotedBelt(), **given)
    assert isinstance(written, Reply)
    assert written.title
    fake.always(Outcome("prose", words={"pointer": "I looked around and found three posts."}))
    told = write(mind(fake), belt=NotedBelt(), **given)
    assert told == NothingToSay(words="I looked around and found three posts.")
