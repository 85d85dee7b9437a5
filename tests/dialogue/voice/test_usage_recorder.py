"""Who looks on while a model is asked: the books, the keys, and whoever says stop."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Barrier, Thread, get_ident
from typing import Any

import pytest
from django.db import connection, transaction

from dialogue.errors import (
    LeaseLost,
    OutOfBudget,
    VoiceError,
    VoiceMisconfigured,
    VoiceStopping,
)
from dialogue.models import Agent
from dialogue.voice import open_voice
from dialogue.voice.base import Brief, GenerationSettings, ModelConfig, Reply, ThreadMessage
from tests.dialogue.voice.requests import KEY, brief, mind, streamed, why_not, write
from tests.dialogue.voice.test_errors import FAILURES
from tests.dialogue.voice.usage_recorder import Watching
from tests.factories import make_agent
from tests.fakes.openai_chat import FakeOpenAI, Outcome


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


# ── keys ──────────────────────────────────────────────────────────────────


@streamed
@pytest.mark.parametrize("outcome", [*FAILURES, "redirect", "echo-key", "wrong_schema", "length"])
def test_a_key_is_nowhere_whatever_happens(fake: FakeOpenAI, outcome: str, streams: bool):
    watch = Watching()
    fake.always(outcome)
    voice = open_voice("model", [mind(fake, streams=streams)], GenerationSettings(timeout=10))
    told = comes_of(voice, watch, brief(notes=(f"Do not say {KEY}.",)))

    assert fake.requests[0].headers["authorization"] == f"Bearer {KEY}", "but it was used"
    assert KEY not in told
    assert KEY not in repr(watch.lines)
    assert KEY not in repr(vars(voice))


def comes_of(voice: Any, watch: Watching, given: Brief) -> str:
    """All that is said of a failure: the error, its causes, what it was raised during."""
    try:
        voice.write(given, watch)
    except VoiceError as error:
        told, cause = traceback.format_exception(error), error.__cause__ or error.__context__
        while cause is not None:
            told += [repr(cause), *traceback.format_exception(cause)]
            cause = cause.__cause__ or cause.__context__
        return "".join(told) + repr(vars(error))
    return ""


def test_no_key_is_taken_from_the_environment(fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, "sk-of-the-environment-0123456789")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    assert "No key is set" in str(why_not(ModelConfig(model="openai:gpt-4o")))
    assert "No key is set" in str(why_not(ModelConfig(model="anthropic:claude-sonnet-4-5")))
    write(mind(fake, key=""))
    write(mind(fake, "ollama:qwen3", key=""))
    assert {seen.headers["authorization"] for seen in fake.requests} == {"Bearer no-key"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "gpt-4o"}, "provider:name"),
        ({"model": "openai:"}, "provider:name"),
        ({"model": "gateway/openai:gpt-4o"}, "provider:name"),
        ({"model": "banana:split"}, "cannot be asked"),
        ({"model": "groq:llama"}, "library for groq is not installed"),
        ({"model": "openai:gpt", "base_url": "localhost:8080"}, "must begin with http"),
        ({"model": "openai:gpt", "base_url": "file:///etc/passwd"}, "must begin with http"),
        ({"model": "openai:gpt", "base_url": "http://localhost:port/v1"}, "must begin with http"),
        ({"model": "openai:gpt", "base_url": "http://localhost:99999/v1"}, "must begin with http"),
        ({"model": "openai:gpt", "base_url": "http://\u2603.example/v1"}, "must begin with http"),
        ({"model": "openai:gpt", "key": "sk-with-a-\n-line-end"}, "invalid character"),
        ({"model": "openai:gpt", "key": "sk-schlüssel"}, "invalid character"),
    ],
)
def test_what_is_set_wrongly_is_told_before_anything_is_asked(given: dict[str, str], words: str):
    watch = Watching()
    error = why_not(ModelConfig(**{"key": KEY} | given), watch=watch)
    assert type(error) is VoiceMisconfigured
    assert words in str(error)
    assert watch.lines == []


# ── the watch ─────────────────────────────────────────────────────────────


def test_without_a_reservation_nothing_is_asked(fake: FakeOpenAI):
    until = datetime(2026, 7, 1, tzinfo=UTC)

    def no_money(number: int) -> None:
        raise OutOfBudget("The money budget for today is used up: $1.00 of $1.00.", until=until)

    error = why_not(mind(fake), mind(fake), watch=Watching(when_asked=no_money))
    assert isinstance(error, OutOfBudget)
    assert error.until == until
    assert fake.requests == []


def test_a_repetition_needs_a_reservation_too(fake: FakeOpenAI):
    def money_for_one(number: int) -> None:
        if number:
            raise OutOfBudget("Today's money is spent.", until=datetime(2026, 7, 1, tzinfo=UTC))

    fake.always("wrong_schema")
    watch = Watching(when_asked=money_for_one)
    assert type(why_not(mind(fake), mind(fake), watch=watch)) is OutOfBudget
    assert len(fake.requests) == 1


def test_who_was_overtaken_asks_nobody(fake: FakeOpenAI):
    def overtaken(number: int) -> None:
        raise LeaseLost("activation 7 was taken back")

    with pytest.raises(LeaseLost):
        write(mind(fake), mind(fake), watch=Watching(when_asked=overtaken))
    assert fake.requests == []


def test_who_is_overtaken_while_the_model_thinks_hears_it_too(fake: FakeOpenAI):
    def overtaken() -> bool:
        if fake.requests:
            raise LeaseLost("activation 7 was taken back")
        return False

    fake.script("hang")
    watch = Watching(ends=overtaken)
    with pytest.raises(LeaseLost):
        write(mind(fake), mind(fake), watch=watch)
    assert len(fake.requests) == 1
    assert watch.ends_of == [""], "what is no longer ours is not written to"


@pytest.mark.timeout(20)
@streamed
@pytest.mark.parametrize("outcome", ["hang", "trickle", "hang-in-stream"])
def test_a_request_is_given_up_as_soon_as_we_must_end(
    fake: FakeOpenAI, outcome: str, streams: bool
):
    fake.always(Outcome(outcome, seconds=60))
    watch = Watching(ends=lambda: bool(fake.requests))
    error = why_not(
        mind(fake, streams=streams), mind(fake), watch=watch, knobs=GenerationSettings(timeout=60)
    )
    assert type(error) is VoiceStopping
    [line] = watch.lines
    assert (line.end, line.said["may_have_cost"]) == ("failed", True)


def test_who_must_end_asks_nothing_more(fake: FakeOpenAI):
    watch = Watching(ends=lambda: True)
    assert type(why_not(mind(fake), watch=watch)) is VoiceStopping
    assert (fake.requests, watch.lines) == ([], [])


def test_two_threads_write_at_once_and_each_watch_hears_its_own(fake: FakeOpenAI):
    voice = open_voice("model", [mind(fake)], GenerationSettings(timeout=10))
    written: dict[str, Reply] = {}
    start = Barrier(2)

    def work(name: str) -> None:
        start.wait()
        for number in range(3):
            watch = Watching()
            comment = ThreadMessage(author=name, text=f"{name} asks for the {number}th time, why?")
            written[f"{name}{number}"] = voice.write(brief(comment=comment), watch)
            assert [line.thread for line in watch.lines] == [get_ident()]

    threads = [Thread(target=work, args=[name]) for name in ("ann", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written) == ["ann0", "ann1", "ann2", "ben0", "ben1", "ben2"]
    assert all(f"{key[:3]} asks" in value.pointer for key, value in written.items())


@pytest.mark.django_db
def test_the_watch_works_in_the_transaction_of_whoever_asked(fake: FakeOpenAI):
    seen = []
    with transaction.atomic():
        agent = make_agent(slug="unsaved-elsewhere")
        watch = Watching(
            when_asked=lambda number: seen.append(
                (connection.in_atomic_block, Agent.objects.filter(pk=agent.pk).exists())
            )
        )
        write(mind(fake), watch=watch)
        transaction.set_rollback(True)
    assert seen == [(True, True)]


INTERRUPTED = """
import signal, sys
from dialogue.voice import open_voice
from dialogue.voice.base import Brief, GenerationSettings, ModelConfig
from tests.dialogue.voice.usage_recorder import Watching

def ask():
    config = ModelConfig(model="openai:gpt-4o", base_url=sys.argv[1])
    voice, watch = open_voice("model", [config], GenerationSettings(timeout=600)), Watching()
    watch.when_asked = lambda number: signal.setitimer(signal.ITIMER_REAL, 0.5) and None
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    voice.write(Brief(purpose="reply", name="Iris", handle="iris"), watch)

try:
    ask()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_process_that_is_interrupted_while_a_model_thinks_can_end(fake: FakeOpenAI):
    fake.always(Outcome("hang", seconds=600))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, fake.url], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("interrupted", 0), done.stderr
    assert fake.requests
