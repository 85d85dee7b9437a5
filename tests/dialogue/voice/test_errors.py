"""A model that gives no answer: what is made of every way in which that can happen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialogue.errors import (
    VoiceDown,
    VoiceError,
    VoiceLimited,
    VoiceMisconfigured,
    VoiceRefused,
    VoiceTooLong,
)
from dialogue.voice.base import GenerationSettings
from tests.dialogue.voice.requests import THREAD, mind, streamed, why_not, write
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI, Outcome


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


# ── no answer ─────────────────────────────────────────────────────────────

FREE, MAYBE = False, True  # whether it may have cost something
FAILURES: dict[str, tuple[type[VoiceError], str, bool]] = {
    "429": (VoiceLimited, "rate limit", FREE),
    "429-retry-after": (VoiceLimited, "30 s", FREE),
    "insufficient_quota": (VoiceMisconfigured, "quota", FREE),
    "500": (VoiceDown, "status 500", MAYBE),
    "503": (VoiceDown, "status 503", MAYBE),
    "cut-before": (VoiceDown, "was lost", MAYBE),
    "cut": (VoiceDown, "was lost", MAYBE),
    "malformed": (VoiceDown, "is not valid", MAYBE),
    "html": (VoiceDown, "is not valid", MAYBE),
    "not_a_completion": (VoiceDown, "is not valid", MAYBE),
    "empty_choices": (VoiceDown, "is not valid", MAYBE),
    "huge": (VoiceDown, "larger than 4 MB", MAYBE),
    "packed": (VoiceDown, "packed", MAYBE),
    "401": (VoiceMisconfigured, "key", FREE),
    "401-with-key": (VoiceMisconfigured, "key", FREE),
    "403": (VoiceMisconfigured, "key", FREE),
    "404": (VoiceMisconfigured, "There is no", FREE),
    "400": (VoiceMisconfigured, "Unsupported parameter: temperature", FREE),
    "not_liked": (VoiceRefused, "flagged", FREE),
}


@streamed
@pytest.mark.parametrize("outcome", FAILURES)
def test_every_failure_says_what_to_do_next_and_is_not_repeated(
    fake: FakeOpenAI, outcome: str, streams: bool
):
    kind, words, costs = FAILURES[outcome]
    watch = Watching()
    fake.always(outcome)
    error = why_not(mind(fake, streams=streams), watch=watch)

    assert type(error) is kind
    assert words in str(error)
    assert "openai:gpt-4o-mini" in str(error)
    assert len(fake.requests) == 1
    [line] = watch.lines
    assert (line.end, line.said["why"]) == ("failed", str(error))
    assert line.said["may_have_cost"] is costs


@pytest.mark.parametrize(
    ("outcome", "least", "most"),
    [
        (Outcome("429-retry-after", seconds=20), 20, 20),
        (Outcome("429-retry-after-date", seconds=90), 60, 90),
        (Outcome("429-reset"), 80, 80),
        (Outcome("429-retry-after", seconds=10**12), 86_400, 86_400),
        (Outcome("503-retry-after", seconds=40), 40, 40),
    ],
    ids=["seconds", "date", "openai", "absurd", "down"],
)
def test_how_long_to_wait_is_what_the_provider_says_up_to_a_day(
    fake: FakeOpenAI, outcome: Outcome, least: float, most: float
):
    fake.script(outcome)
    error = why_not(mind(fake))
    assert isinstance(error, VoiceLimited | VoiceDown)
    assert error.wait is not None
    assert least <= error.wait.total_seconds() <= most


def test_a_provider_that_names_no_time_is_not_put_words_in_its_mouth(fake: FakeOpenAI):
    fake.script("429")
    error = why_not(mind(fake))
    assert isinstance(error, VoiceLimited)
    assert error.wait is None


@pytest.mark.parametrize("outcome", ["hang", "trickle", "hang-in-stream"])
@streamed
def test_a_request_has_one_time_limit_for_all_of_it(fake: FakeOpenAI, outcome: str, streams: bool):
    watch = Watching()
    fake.always(outcome)
    error = why_not(mind(fake, streams=streams), watch=watch, knobs=GenerationSettings(timeout=0.5))
    assert type(error) is VoiceDown
    assert "longer than 0.5 s" in str(error)
    assert watch.lines[0].said["may_have_cost"]


def test_a_server_that_is_not_there_is_down_and_cost_nothing(fake: FakeOpenAI):
    watch = Watching()
    gone = mind(fake)
    fake.stop()
    error = why_not(gone, watch=watch)
    assert type(error) is VoiceDown
    assert "could not be reached" in str(error)
    assert not watch.lines[0].said["may_have_cost"]


@streamed
def test_nobody_sends_us_elsewhere(fake: FakeOpenAI, streams: bool):
    fake.script("redirect")
    error = why_not(mind(fake, streams=streams))
    assert type(error) is VoiceMisconfigured
    assert "status 307" in str(error)


def test_an_error_inside_a_stream_is_the_same_error(fake: FakeOpenAI):
    watch = Watching()
    fake.script("error-in-stream")
    error = why_not(mind(fake, streams=True), watch=watch)
    assert type(error) is VoiceDown
    assert watch.lines[0].said["may_have_cost"]


# ── too long ──────────────────────────────────────────────────────────────


@streamed
@pytest.mark.parametrize("too_long", ["context_too_long", "413"])
def test_a_thread_that_is_too_long_is_shortened_once(
    fake: FakeOpenAI, too_long: str, streams: bool
):
    watch = Watching()
    fake.script(too_long, "good")
    assert write(mind(fake, streams=streams), watch=watch, thread=THREAD).terms
    first, second = fake.requests
    assert len(second.user) < 0.7 * len(first.user)
    assert watch.ends_of == ["failed", "answered"]
    assert not watch.lines[0].said["may_have_cost"]


def test_too_long_even_then_is_left_to_the_next_model_with_the_whole_thread(fake: FakeOpenAI):
    fake.script("context_too_long", "context_too_long", "good")
    assert write(mind(fake, "openai:small"), mind(fake, "openai:large"), thread=THREAD).terms
    assert [seen.body["model"] for seen in fake.requests] == ["small", "small", "large"]
    assert len(fake.requests[2].user) == len(fake.requests[0].user)

    fake.always("context_too_long")
    assert type(why_not(mind(fake), thread=THREAD)) is VoiceTooLong
