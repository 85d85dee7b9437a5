"""Stored sentences are told in another language; what is not known stays as it is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from surfaces.telling import MOST, Catalog, catalog, read

SENTENCES = {
    "off topic": "跑题",
    "outside its hours": "不在时段内",
    "waiting": "等待中",
    "Paused by {name}": "由 {name} 暂停",
    "This draft is {state}; there is nothing to approve.": "草稿状态为“{state}”；没有可批准的。",
    "Tried {times} times. The last time: {why}": "已尝试 {times} 次。最后一次：{why}",
    "{who} decided this {span} before you.": "{who} 比你早 {span} 做了决定。",
    "{a} {b}": "{a}{b}",
    "Waits": "等待",
    "h": "小时",
    "min": "分钟",
    "It was not sent.": "没有发送。",
}


@pytest.fixture
def tell():
    return Catalog(SENTENCES).tell


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("off topic", "跑题"),
        ("Off topic", "跑题"),
        ("Off topic.", "跑题。"),
        ("It was not sent.", "没有发送。"),
        ("Paused by mira", "由 mira 暂停"),
        ("Waits: outside its hours", "等待：不在时段内"),
        ("off topic; outside its hours", "跑题；不在时段内"),
        ("It was not sent. Paused by Jo", "没有发送。由 Jo 暂停"),
        ("2 h 14 min", "2 小时 14 分钟"),
        ("Jo decided this 4 min before you.", "Jo 比你早 4 分钟 做了决定。"),
    ],
)
def test_a_sentence_is_found_whole_with_gaps_or_in_parts(tell, said, told):
    assert tell(said) == told


def test_words_of_ours_in_a_gap_are_told_and_names_are_not(tell):
    state = "This draft is waiting; there is nothing to approve."
    assert tell(state) == "草稿状态为“等待中”；没有可批准的。"
    assert tell("Paused by waiting") == "由 waiting 暂停"


def test_a_sentence_in_a_gap_is_told(tell):
    told = tell("Tried 10 times. The last time: outside its hours")
    assert told == "已尝试 10 次。最后一次：不在时段内"


@pytest.mark.parametrize(
    "said", ["", " ", "Hello there, how are you?", "Paused by ", "{name}", "x"]
)
def test_what_nobody_translated_stays_as_it_is(tell, said):
    assert tell(said) == said


def test_a_gap_is_never_empty_and_a_pattern_of_gaps_alone_fits_nothing(tell):
    assert tell("Tried 10 times. The last time: ") == "Tried 10 times. The last time: "
    empty = "This draft is ; there is nothing to approve."
    assert tell(empty) == empty
    assert tell("one two") == "one two"


def test_braces_of_strangers_open_no_gap(tell):
    assert tell("Paused by {why}{0.__class__}") == "由 {why}{0.__class__} 暂停"


def test_the_longest_words_win():
    tell = Catalog({"It broke: {why}": "坏", "It broke: the service {why}": "服务坏"}).tell
    assert tell("It broke: the service slept") == "服务坏"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2_000_000,
        "Tried " * 400_000,
        "Tried 1 times. The last time: " * 66,
        "x; " * 660,
        "A. " * 660,
        ": " * 990,
        "This draft is " * 140,
    ],
)
def test_long_and_hostile_texts_are_quick(tell, text):
    begun = time.perf_counter()
    tell(text)
    catalog_of_ours().tell(text)
    assert time.perf_counter() - begun < 1
    if len(text) > MOST:
        assert tell(text) == text


def catalog_of_ours() -> Catalog:
    found = catalog(Path(__file__).resolve().parents[2] / "locale", "zh_Hans")
    assert found
    return found


def test_the_compiled_catalog_is_read():
    path = Path(__file__).resolve().parents[2] / "locale/zh_Hans/LC_MESSAGES/django.mo"
    rows = dict(read(path))
    assert rows["Approve"] == "批准"
    one, many = "%(n)s approved draft", "%(n)s approved drafts"
    assert rows[one] == rows[many]  # both forms of a plural
    assert "" not in rows


def test_a_language_without_a_catalog_tells_nothing():
    assert catalog(Path("/nowhere"), "en") is None


@pytest.mark.parametrize(
    "said",
    [
        "Waits: outside the agent's hours, until 08:00 UTC.",
        "Passed: it is marked as spam.",
        "Not done: This draft is sent; there is nothing to approve.",
        "Tried 10 times. The last time: too many requests: slow down",
        "a shortened link (bit.ly) hides where it leads; written in capitals",
        "mira decided this 4 min before you: it is approved.",
        "The text has 2,011 characters; Moltbook takes 2,000.",
    ],
)
def test_sentences_the_program_stores_are_told_in_chinese(said):
    assert "的" in (told := catalog_of_ours().tell(said)) or told != said
