"""What a change is, and when it may be taken back: no database, no form."""

from __future__ import annotations

import pytest

from surfaces.changes import (
    ChangedMeanwhile,
    check_seen,
    differences,
    heard,
    is_change,
    marks_of,
    moved_since,
    set_back,
    told,
)
from surfaces.errors import NotAllowed, StaleState

NOW = {"a": 1, "b": "x", "c": None}


def test_only_what_is_given_and_different_is_a_difference():
    assert differences(NOW, {"a": 1, "b": "y"}) == {"b": ["x", "y"]}


def test_marks_survive_the_hidden_field():
    assert heard(told(marks_of(NOW))) == marks_of(NOW)
    assert heard("") == heard("nonsense") == {}


def test_what_moved_since_is_named_and_what_nobody_saw_is_not_compared():
    seen = marks_of({"a": 1, "b": "y"})
    assert moved_since(NOW, seen) == ["b"]
    assert moved_since(NOW, None) == []
    with pytest.raises(ChangedMeanwhile) as refused:
        check_seen(NOW, seen)
    assert refused.value.fields == ("b",)


def test_yes_is_not_the_number_one():
    assert marks_of({"a": True}) != marks_of({"a": 1})


def test_a_change_goes_back_to_what_was():
    assert set_back({"a": [0, 1], "b": ["w", "x"]}, NOW) == {"a": 0, "b": "w"}


def test_one_value_that_moved_since_holds_the_whole_change_back():
    with pytest.raises(StaleState, match="Changed again since: B"):
        set_back({"a": [0, 1], "b": ["w", "z"]}, NOW, label=str.upper)


@pytest.mark.parametrize(
    "facts", [{}, {"a": 1}, {"a": [1]}, {"z": [0, 1]}, {"a": [0, 1], "b": "x"}]
)
def test_a_line_that_tells_something_else_is_no_change(facts):
    assert not is_change(facts, NOW)
    with pytest.raises(NotAllowed):
        set_back(facts, NOW)
