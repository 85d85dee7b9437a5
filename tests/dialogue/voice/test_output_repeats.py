"""Words that were nearly said before are a repeat, however they are dressed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.voice.output_checks import is_near_any, shingles, similarity, words_of
from tests.dialogue.voice.output_factories import PLACE, found, only


def numbered(first: int, last: int) -> str:
    return " ".join(f"word{number}" for number in range(first, last))


def test_a_repeat_is_four_fifths_of_all_shingles():
    # Nine shingles each; eight are shared, ten are there in all.
    one, other = numbered(0, 11), numbered(0, 10) + " else"
    assert similarity(shingles(words_of(one)), shingles(words_of(other))) == Fraction(8, 10)
    assert "repeats one of your last texts" in only(found(other, last_texts=("hello", one)))


def test_a_little_less_is_no_repeat():
    # Seventy-nine of a hundred: 79 shared, 89 and 90 shingles.
    one, other = numbered(0, 91), numbered(0, 81) + " " + numbered(100, 111)
    likeness = similarity(shingles(words_of(one)), shingles(words_of(other)))
    assert likeness == Fraction(79, 100)
    assert (
        found(other, longest=5_000, traits=replace(PLACE, text_limit=5_000), last_texts=(one,))
        == []
    )


def test_a_text_with_a_new_beginning_is_still_a_repeat():
    # Ten new words make ten new shingles beside forty old ones.
    one = numbered(0, 42)
    other = f"{numbered(100, 110)} {one}"
    assert similarity(shingles(words_of(one)), shingles(words_of(other))) == Fraction(4, 5)
    assert is_near_any(one, [other])
    assert not is_near_any(one, [f"another {other}"])


def test_case_dress_and_order_of_lines_hide_no_repeat():
    one = "The tide table leaves out the wind, and the wind decides the day."
    other = "the TIDE table — leaves out *the wind*; and the wind\n\ndecides the day!"
    assert is_near_any(other, [one])


def test_the_same_words_in_another_order_are_no_repeat():
    assert not is_near_any("one two three four five six", ["six five four three two one"])


@pytest.mark.parametrize(
    ("text", "last", "repeats"),
    [
        ("Yes.", "yes!", True),
        ("Yes, so", "yes so", True),
        ("Yes.", "Yes, so", False),
        ("Yes.", "No.", False),
        ("Yes, so", "Yes, so be it then", False),
    ],
)
def test_very_short_texts_are_compared_whole(text: str, last: str, repeats: bool):
    assert is_near_any(text, [last]) is repeats


def test_chinese_needs_no_spaces():
    assert words_of("潮汐表GPT漏了wind。ok") == ["潮", "汐", "表", "gpt", "漏", "了", "wind", "ok"]
    one = "潮汐表里没有写风，而风决定了这一天会怎样，你怎么看这件事呢？"
    assert is_near_any("潮汐表里没有写风，而风决定了这一天会怎样。你怎么看这件事？", [one])
    assert not is_near_any("风决定了这一天会怎样，可是潮汐表里没有写，我们该问谁？", [one])


TEXTS = st.lists(st.sampled_from(["a1", "b", "潮", "c c", "."]), max_size=40).map(" ".join)


@given(TEXTS, TEXTS)
def test_looking_at_the_beginning_first_never_changes_the_answer(one: str, other: str):
    whole = similarity(shingles(words_of(one)), shingles(words_of(other))) >= Fraction(4, 5)
    assert is_near_any(one, [other]) is whole
    assert is_near_any(other, [one]) is whole
