"""What a change of settings is, and where two people collide: no database, no form."""

from __future__ import annotations

from datetime import time
from decimal import Decimal

from surfaces.settings.changes import (
    changed_since,
    dump_marks,
    load_marks,
    marks_of,
    merge,
    pairs_of,
    to_json,
)

NOW = {"a": 1, "b": "x", "c": None}


def test_marks_survive_the_hidden_field():
    assert load_marks(dump_marks(marks_of(NOW))) == marks_of(NOW)
    assert load_marks("") == load_marks("nonsense") == {}


def test_what_moved_since_is_named_and_what_nobody_saw_is_not_compared():
    seen = marks_of({"a": 1, "b": "y"})
    given = {"a": 2, "b": "z", "c": 3}
    assert merge(NOW, given, seen) == (given, ["b"])
    assert merge(NOW, given, None) == (given, [])


def test_a_value_left_as_it_was_shown_is_not_written():
    seen = marks_of({"a": 1, "b": "y", "c": 4})
    assert merge(NOW, {"a": 1, "b": "y", "c": 5}, seen) == ({"c": 5}, ["c"])


def test_two_people_who_enter_the_same_value_do_not_conflict():
    assert merge(NOW, {"b": "x"}, marks_of({"b": "y"})) == ({"b": "x"}, [])


def test_a_form_that_does_not_say_what_it_showed_conflicts_wherever_it_differs():
    assert merge(NOW, {"a": 1, "b": "y"}, {"a": "", "b": ""})[1] == ["b"]


def test_yes_is_not_the_number_one():
    assert marks_of({"a": True}) != marks_of({"a": 1})


def test_decimals_and_times_are_kept_as_text_and_the_rest_as_it_is():
    values = [Decimal("2.5000"), time(8, 30), ["x"], 0.25, True, None]
    assert [to_json(value) for value in values] == ["2.5", "08:30:00", ["x"], 0.25, True, None]


def test_only_pairs_of_a_fact_are_changed_values():
    assert pairs_of({"a": [0, 1], "b": [1], "agent": "iris", "undoes": 7}) == {"a": [0, 1]}


def test_a_value_that_is_not_what_the_change_made_of_it_was_changed_since():
    assert changed_since({"a": [0, 1], "b": ["w", "z"]}, NOW) == ["b"]
