"""A voice that asks models: what it makes of their answers, and whom it asks next."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from threading import get_ident

import pytest

from dialogue.errors import (
    VoiceBroken,
    VoiceDown,
    VoiceError,
    VoiceLimited,
    VoiceMisconfigured,
    VoiceRefused,
)
from dialogue.voice import open_voice
from dialogue.voice.base import GenerationSettings, ModelConfig, built
from tests.dialogue.voice.requests import KEY, mind, streamed, styled, why_not, write
from tests.dialogue.voice.usage_recorder import Watching
from tests.fakes.openai_chat import FakeOpenAI, Outcome


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


# ── answers ───────────────────────────────────────────────────────────────


@streamed
@styled
def test_a_model_hands_in_parts_and_the_text_is_built_from_them(
    fake: FakeOpenAI, style: str, streams: bool
):
    watch = Watching()
    written = write(mind(fake, output_style=style, streams=streams), watch=watch)

    assert "Why does the tide not ask the harbour" in written.pointer
    assert written.text == built(written.terms, written.pointer, written.exit)
    assert written.title == ""
    assert bool(fake.requests[0].body.get("stream")) == streams
    [line] = watch.lines
    assert (line.end, line.thread) == ("answered", get_ident())
    assert (line.said["tokens_in"], line.said["tokens_out"]) == (900, 120)
    assert Decimal(0) < line.said["cost"] < Decimal("0.01")
    assert written.terms in line.said["words"]


def test_what_is_asked_is_what_the_prompt_says_and_the_knobs_hold(fake: FakeOpenAI):
    watch = Watching()
    write(
        mind(fake),
        watch=watch,
        knobs=GenerationSettings(temperature=0.3, output_tokens=777, timeout=10),
    )

    [seen] = fake.requests
    assert "Why does the tide not ask the harbour?" in seen.user
    assert "Iris" in seen.system
    assert (seen.body["temperature"], seen.headers["authorization"]) == (0.3, f"Bearer {KEY}")
    assert 777 in (seen.body.get("max_tokens"), seen.body.get("max_completion_tokens"))
    [line] = watch.lines
    assert line.tokens_out == 777
    assert line.tokens_in > len(seen.system + seen.user) / 4
    assert line.facts["system"] in seen.system
    assert line.facts["shown"] in seen.user


def test_a_post_has_a_title_of_one_line(fake: FakeOpenAI):
    fake.script(Outcome(words={"title": "Of tides\nand harbours "}))
    assert write(mind(fake), purpose="stone", longest_title=80).title == "Of tides and harbours"


@styled
def test_what_else_a_model_sends_along_goes_nowhere(fake: FakeOpenAI, style: str):
    fake.script("extra_fields")
    written = write(mind(fake, output_style=style))
    assert "HIJACKED" not in repr(written)
    assert len(fake.requests) == 1


def test_an_exit_is_not_needed(fake: FakeOpenAI):
    fake.script(Outcome(words={"exit": None}))
    written = write(mind(fake))
    assert written.exit == ""
    assert written.text == f"{written.terms}\n\n{written.pointer}"


def test_the_price_of_a_model_nobody_lists_is_unknown(fake: FakeOpenAI):
    watch = Watching()
    write(mind(fake, "openai:our-own"), watch=watch)
    assert watch.lines[0].said["cost"] is None


@streamed
@pytest.mark.parametrize("usage", ["no_usage", "huge_usage", "negative_usage"])
def test_a_server_that_counts_nothing_or_nonsense_is_counted_by_guess(
    fake: FakeOpenAI, usage: str, streams: bool
):
    watch = Watching()
    fake.script(usage)
    write(mind(fake, streams=streams), watch=watch)
    [line] = watch.lines
    assert line.said["tokens_in"] == line.tokens_in > 0
    assert line.said["tokens_out"] > 0
    assert line.said["cost"] is None


def test_a_count_that_is_no_number_does_not_spoil_a_stream(fake: FakeOpenAI):
    fake.script("odd_usage")
    assert write(mind(fake, streams=True)).terms


def test_a_model_that_takes_no_temperature_is_asked_without(fake: FakeOpenAI):
    """The library warns of it, and warnings are errors here."""
    write(mind(fake, "openai:gpt-5"))
    assert "temperature" not in fake.requests[0].body


# ── the wrong form ────────────────────────────────────────────────────────


@streamed
@styled
@pytest.mark.parametrize("wrong", ["wrong_schema", "no_json", "empty"])
def test_a_wrong_form_is_asked_for_once_more(
    fake: FakeOpenAI, wrong: str, style: str, streams: bool
):
    watch = Watching()
    fake.script(wrong, "good")
    assert write(mind(fake, output_style=style, streams=streams), watch=watch).terms
    assert watch.ends_of == ["answered", "answered"]
    assert [line.facts["request"] for line in watch.lines] == [1, 2]


@streamed
@styled
def test_a_form_that_is_wrong_twice_is_broken(fake: FakeOpenAI, style: str, streams: bool):
    watch = Watching()
    fake.script("wrong_schema", "wrong_schema")
    error = why_not(mind(fake, output_style=style, streams=streams), watch=watch)
    assert type(error) is VoiceBroken
    assert watch.ends_of == ["answered", "answered"]


@streamed
@styled
def test_an_answer_that_is_cut_off_is_broken_and_not_asked_for_again(
    fake: FakeOpenAI, style: str, streams: bool
):
    watch = Watching()
    fake.script("length")
    error = why_not(mind(fake, output_style=style, streams=streams), watch=watch)
    assert type(error) is VoiceBroken
    assert "cut off" in str(error)
    assert watch.ends_of == ["answered"]


@streamed
@styled
@pytest.mark.parametrize("refusal", ["refusal", "content_filter"])
def test_what_a_model_declines_to_write_is_a_refusal(
    fake: FakeOpenAI, refusal: str, style: str, streams: bool
):
    watch = Watching()
    fake.script(refusal)
    error = why_not(mind(fake, output_style=style, streams=streams), watch=watch)
    assert type(error) is VoiceRefused
    assert ("I cannot help with that" in str(error)) == (refusal == "refusal")
    assert watch.ends_of == ["answered"]


# ── several models ────────────────────────────────────────────────────────


@pytest.mark.parametrize("outcome", ["429", "500", "401", "length", "malformed", "404"])
def test_another_model_is_asked_when_one_cannot(fake: FakeOpenAI, outcome: str):
    watch = Watching()
    fake.script(outcome, "good")
    minds = [mind(fake, f"openai:{name}") for name in ("first", "second", "third")]
    assert write(*minds, watch=watch).terms
    assert [seen.body["model"] for seen in fake.requests] == ["first", "second"]
    assert [line.model for line in watch.lines] == ["openai:first", "openai:second"]


@pytest.mark.parametrize("outcome", ["refusal", "not_liked"])
def test_what_one_model_declines_is_not_taken_to_another(fake: FakeOpenAI, outcome: str):
    fake.script(outcome)
    error = why_not(mind(fake, "openai:first"), mind(fake, "openai:second"))
    assert type(error) is VoiceRefused
    assert len(fake.requests) == 1


def test_a_model_that_is_set_wrongly_does_not_stop_the_next(fake: FakeOpenAI):
    watch = Watching()
    assert write(ModelConfig(model="banana:split", key=KEY), mind(fake), watch=watch).terms
    assert [line.model for line in watch.lines] == ["openai:gpt-4o-mini"]


@pytest.mark.parametrize(
    ("outcomes", "kind"),
    [
        (["429", "500"], VoiceDown),
        (["401", "500"], VoiceDown),
        (["401", "429"], VoiceDown),
        (["401", "length"], VoiceBroken),
        (["401", "404"], VoiceMisconfigured),
    ],
)
def test_when_nobody_could_the_error_names_each_model_and_its_reason(
    fake: FakeOpenAI, outcomes: list[str], kind: type[VoiceError]
):
    fake.script(*outcomes)
    error = why_not(mind(fake, "openai:first"), mind(fake, "openai:second"))
    assert type(error) is kind
    assert "openai:first" in str(error)
    assert "openai:second" in str(error)


def test_all_limited_means_to_wait_for_the_first_that_is_free(fake: FakeOpenAI):
    fake.script(Outcome("429-retry-after", seconds=50), Outcome("429-retry-after", seconds=5))
    error = why_not(mind(fake, "openai:first"), mind(fake, "openai:second"))
    assert isinstance(error, VoiceLimited)
    assert error.wait == timedelta(seconds=5)


def test_the_voice_is_called_what_its_models_are_called(fake: FakeOpenAI):
    voice = open_voice(
        "model", [mind(fake, "openai:a"), mind(fake, "ollama:b")], GenerationSettings()
    )
    assert voice.name == "openai:a, then ollama:b"
    assert type(why_not()) is VoiceMisconfigured


# ── what it takes ─────────────────────────────────────────────────────────


def test_the_libraries_of_models_are_loaded_only_for_a_model():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from dialogue.voice import open_voice; from dialogue.voice.base import *\n"
            "open_voice('scripted', [], GenerationSettings())\n"
            "print(sorted({'pydantic_ai', 'openai', 'django'} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_an_unknown_kind_of_voice_is_not_opened():
    with pytest.raises(ValueError):
        open_voice("opera", [], GenerationSettings())
