"""Patterns of a rule: `*` is any text, everything else is itself."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogue.approvals.patterns import is_like, matches


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True), ("", "a", False), ("a", "a", True), ("a", "ab", False),
        ("*", "", True), ("*", "any\nthing", True), ("**", "", True),
        ("a*", "abc", True), ("a*", "ba", False), ("*c", "abc", True),
        ("a*a", "a", False), ("a*a", "aa", True), ("ab*ba", "aba", False),
        ("a*b*c", "a-b-c", True), ("a*b*c", "acb", False), ("*b*", "abc", True),
        # nothing else has a meaning
        (".*", "abc", False), ("[a]", "a", False), ("a?", "ab", False), ("\\*", "*", True),
        ("\\*", "\\x", False), ("%", "abc", False),
    ],
)  # fmt: skip
def test_one_text(pattern, text, fits):
    assert is_like(pattern, text) is fits


def test_an_argument_that_is_not_named_must_be_absent():
    assert matches({"text": "*"}, {"text": "x"})
    assert not matches({"text": "*"}, {"text": "x", "community": "tides"})
    assert not matches({}, {"text": "x"})
    assert matches({}, {})


def test_an_absent_argument_is_an_empty_text():
    assert matches({"text": "*", "community": "*"}, {"text": "x"})
    assert not matches({"text": "*", "community": "tides"}, {"text": "x"})


def test_what_is_no_text_is_compared_as_canonical_json():
    assert matches({"a": "5"}, {"a": 5})
    assert matches({"a": '{"b":[1,null],"c":"é"}'}, {"a": {"c": "é", "b": [1, None]}})
    assert not matches({"a": "True"}, {"a": True})
    assert matches({"a": "true"}, {"a": True})


@given(st.lists(st.text(alphabet="ab", max_size=4), min_size=1, max_size=5), st.data())
def test_a_text_made_of_a_pattern_fits_it(parts, data):
    text = data.draw(st.text(alphabet="ab", max_size=5)).join(parts)
    assert is_like("*".join(parts), text)


def test_no_pattern_takes_long():
    began = time.monotonic()
    assert not is_like("a*" * 1_000 + "b", "a" * 64_000)
    assert not is_like("*".join(["aab"] * 600), "aa" * 32_000)
    assert time.monotonic() - began < 1
