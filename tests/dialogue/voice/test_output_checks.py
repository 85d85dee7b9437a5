"""The form of words: whole, short enough, visible, and judged in sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.voice.base import Reply
from dialogue.voice.output_checks import OutputContext, find_problems
from surfaces.adapters.base import Traits
from tests.dialogue.voice.output_factories import GOOD, PLACE, found, only


class Counted(Traits):
    """A service that counts every character twice."""

    def length(self, text: str) -> int:
        return 2 * len(text)


def test_good_words_have_no_fault():
    assert found() == []
    assert found(words=replace(GOOD, exit="")) == []


def test_a_fault_says_what_to_do_and_several_are_all_said():
    reasons = found(words=Reply(terms="", pointer=" ", text=" "))
    assert reasons == [
        "The text is empty. Enter a text.",
        "The terms are empty. Say which game we are in.",
        "The pointer is empty. Point at one concrete behaviour or passage.",
    ]


@pytest.mark.parametrize(("size", "allowed"), [(400, True), (401, False)])
def test_the_agents_own_longest_is_kept(size: int, allowed: bool):
    reasons = found("x" * size)
    assert (reasons == []) is allowed
    if not allowed:
        assert only(reasons) == "The text has 401 characters; 400 are allowed here. Shorten it."


def test_the_service_counts_as_it_counts():
    twice = Counted(kind="t", label="Twice", base_url="", text_limit=100, title_limit=9)
    assert found("x" * 50, traits=twice) == []
    assert "Twice allows 100" in only(found("x" * 51, traits=twice))


def test_a_post_needs_a_title_that_fits_and_may_be_longer():
    post = replace(GOOD, text="x" * 700)
    assert only(found(words=post, is_post=True, longest=800)) == "A post needs a title. Enter one."
    titled = replace(post, title="On tides")
    assert found(words=titled, is_post=True, longest=800) == []
    long = replace(post, title="t" * 61)
    assert "The title has 61 characters" in only(found(words=long, is_post=True, longest=800))
    assert "Somewhere allows 500" in only(found(words=titled, longest=800))


@pytest.mark.parametrize("bad", ["nul \x00", "bell \x07", "half \ud800", "edge \x85"])
@pytest.mark.parametrize("where", ["text", "title", "terms", "pointer", "exit"])
def test_nothing_is_written_that_no_database_or_service_would_take(bad: str, where: str):
    reason = only(found(words=replace(GOOD, **{where: bad})))
    assert reason.startswith(f"The {where} contains")


@pytest.mark.parametrize("bad", ["a\u202eb", "a\u2066b", "a\u200bb", "a\U000e0041b", "\ufeffa"])
def test_nothing_is_written_that_nobody_can_see(bad: str):
    assert "nobody can see" in only(found(bad))


def test_pictures_and_other_scripts_are_seen():
    assert found("👩\u200d💻 ☀\ufe0f می\u200cخواهم 谢谢\u3000你") == []


def test_what_is_shaped_like_a_key_is_refused():
    assert "looks like a key" in only(found("use sk-abcdefghijklmnopqrstuv"))


@given(st.text(max_size=300), st.text(max_size=40), st.lists(st.text(max_size=300), max_size=3))
def test_whatever_is_written_is_judged_in_sentences(text: str, title: str, others: list[str]):
    words = Reply(terms=title, pointer=text, text=text, title=title)
    context = OutputContext(
        traits=PLACE,
        longest=100,
        people=frozenset(others),
        last_texts=tuple(others),
        private_texts=tuple(others),
        secrets=tuple(others),
    )
    for reason in map(str, find_problems(words, context)):
        assert reason.endswith(".")
        assert "\n" not in reason
