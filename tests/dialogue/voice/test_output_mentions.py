"""Words mention whoever wrote in the thread, and nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialogue.voice.output_checks import strangers_called
from tests.dialogue.voice.output_factories import GOOD, found, only


@pytest.mark.parametrize(
    "text",
    [
        "Thanks @ada.",
        "@ADA: what then?",
        "@Ada's point",
        "@ada, @iris!",
        "“@ada” wrote",
        "@ada你怎么看",
        "谢谢@ada，",
        "＠ada",
        "**@ada**",
        "(@ada)",
        "@ada — yes",
        "@ada...",
    ],
)
def test_whoever_wrote_in_the_thread_may_be_mentioned_and_we_too(text: str):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what does @bob think?", "bob"),
        ("@adam said", "adam"),
        ("@ada_lin", "ada_lin"),
        ("@ada-lin", "ada-lin"),
        ("@ada@other.example", "ada@other.example"),
        ("@ada:server.example", "ada:server.example"),
        ("@ada.bsky.social", "ada.bsky.social"),
        (".@bob", "bob"),
        ("and/@bob", "bob"),
        ("_@bob_", "bob_"),
        ("`@bob`", "bob"),
        ("[@bob](https://x.example/)", "bob"),
        ("你好@bob", "bob"),
        ("＠bob", "bob"),
        ("@\u2060bob", "bob"),
        ("<@80351110224678912>", "80351110224678912"),
        ("<@!80351110224678912>", "80351110224678912"),
        ("<@&165511591545143296>", "165511591545143296"),
        ("https://@bob", "bob"),
        ("@ада", "ада"),
    ],
)
def test_nobody_else_may(text: str, name: str):
    assert strangers_called(text, frozenset({"ada", "iris"})) == [name]


def test_the_reason_names_whom():
    assert "@bob, @carl" in only(found("@bob and @carl, and @bob again"))


@pytest.mark.parametrize("call", ["everyone", "here", "all", "channel", "room", "所有人"])
def test_a_whole_place_is_never_called_whoever_bears_that_name(call: str):
    people = frozenset({"ada", call})
    for text in (f"hear this @{call}!", f"hear this@{call}", f"@{call.upper()}", f"@{call}，看"):
        assert strangers_called(text, people) == [call]
    assert strangers_called("@所有人快来看", people) == ["所有人"]


def test_names_of_other_services_are_known_as_they_stand_in_the_thread():
    people = frozenset(
        {"@ada@other.example", "Lin.bsky.social", "Ada Lovelace", "80351110224678912"}
    )
    text = "@ada@other.example, @lin.bsky.social, @Ada Lovelace and <@80351110224678912> agree"
    assert strangers_called(text, people) == []
    assert strangers_called("@ada", people) == ["ada"]
    assert strangers_called("@Ada Lovely", people) == ["ada"]


@pytest.mark.parametrize(
    "text",
    [
        "write to ada.b+c@example.org",
        "mail:bob@example.org.",
        "see https://medium.example/@bob/on-tides",
        "at 5 @ noon",
        "a @ b",
        "user@host",
    ],
)
def test_an_address_mentions_nobody(text: str):
    assert found(text) == []


def test_a_title_mentions_too():
    post = replace(GOOD, title="For @bob")
    assert "@bob" in only(found(words=post, is_post=True))
