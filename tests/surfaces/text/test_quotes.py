"""What a pointer quotes is found and marked; nothing else about the words changes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surfaces.text.markdown import render_untrusted
from surfaces.text.quotes import laid_out, quotes, said_with_marks, spans, standing


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("You say “good morning” all day.", ["good morning"]),
        ('You say "good morning," and go.', ["good morning"]),
        ("„Guten Morgen“ and «bonjour»", ["Guten Morgen", "bonjour"]),
        ("你说「潮汐表」，又说《海》。", ["潮汐表"]),
        ("“the first part … the last part”", ["the first part", "the last part"]),
        ("It's what you don't say.", []),
        ("An open “quote", []),
    ],
)
def test_what_a_pointer_quotes(pointer: str, found: list[str]):
    assert quotes(pointer) == found


def test_case_and_line_ends_do_not_hide_a_passage():
    assert spans("We say Good\nmorning.", ["good morning"]) == [(7, 19)]


def test_passages_that_touch_become_one():
    assert spans("one two three", ["one two", "two three"]) == [(0, 13)]


def test_a_passage_is_marked_across_emphasis_and_entities():
    html = said_with_marks("Fish **& chips** today", ["fish & chips"])
    assert "<mark>Fish </mark><strong><mark>&amp;</mark><mark> chips</mark></strong> today" in html


def test_markup_does_not_hide_a_passage():
    assert standing(["good morning", "evening"], "a *good* morning") == ["good morning"]


def test_a_stranger_cannot_close_or_open_a_tag_with_a_passage():
    html = said_with_marks("<script>x</script> [a](http://x.example/?q=mark)", ["script>x", "mark"])
    assert "<script>" not in html
    assert 'href="http://x.example/?q=mark"' in html


words = st.text(alphabet='ab &<>*_[]()\n"“”`潮', max_size=60)


@given(words, st.lists(words, max_size=3))
def test_only_marks_are_added(text: str, passages: list[str]):
    html = said_with_marks(text, [passage for passage in passages if passage.strip()])
    assert re.sub("</?mark>", "", html) == render_untrusted(text)
    assert html.count("<mark>") == html.count("</mark>")


def test_parts_are_found_in_their_order_and_the_rest_has_no_name():
    parts = [("Terms", "One."), ("Pointer", ""), ("Exit", "Three?")]
    assert laid_out("Hi. One. Two.\n\nThree?", parts) == [
        ("", "Hi."), ("Terms", "One."), ("", "Two."), ("Exit", "Three?"),
    ]  # fmt: skip


def test_nothing_is_named_that_is_not_there():
    assert laid_out("Other words.", [("Terms", "One.")]) == [("", "Other words.")]
