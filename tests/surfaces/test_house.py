"""The house: what holds for everybody, changed by one person at a time, and taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from surfaces import house
from surfaces.changes import ChangedMeanwhile, marks_of
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, House
from surfaces.spam import Thresholds
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

MIRA, JON = "operator:mira", "operator:jon"


def lines():
    return AuditEvent.objects.on("house:settings").order_by("id")


def test_a_house_nobody_changed_has_the_defaults_and_no_row(django_assert_num_queries):
    with django_assert_num_queries(1):
        found = house.current()
    assert (found.name, found.language) == ("Colloquy", "en")
    assert (found.undo_seconds, found.drafts_wait_hours) == (10, 0)
    assert found.thresholds == Thresholds()
    assert not House.objects.exists()


def test_a_change_is_one_line_with_what_was_and_what_became():
    done = house.change({"undo_seconds": 20, "name": "The hall"}, by=MIRA, now=NOON)
    line = lines().get()
    assert done.turned == {"undo_seconds": [10, 20], "name": ["Colloquy", "The hall"]}
    assert (line.pk, line.actor, line.action) == (done.line, MIRA, "house.changed")
    assert line.facts == done.turned
    found = house.current()
    assert (found.undo_seconds, found.name) == (20, "The hall")
    assert (found.updated_at, found.updated_by) == (NOON, MIRA)


def test_what_is_the_same_writes_nothing():
    assert not house.change({"undo_seconds": 10}, by=MIRA, now=NOON)
    assert not lines().exists()


@pytest.mark.parametrize(
    "values",
    [
        {"undo_seconds": 61},
        {"undo_seconds": -1},
        {"undo_seconds": None},
        {"drafts_wait_hours": 721},
        {"suspect_from": 1.1},
        {"suspect_from": 0.0},
        {"suspect_from": 0.95},
        {"suspect_from": 0.9},
        {"spam_from": float("nan")},
        {"language": "tlh"},
        {"name": "  "},
        {"name": "two\nlines"},
        {"name": "x" * 81},
        {"updated_by": "operator:nobody"},
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_is_kept(values):
    with pytest.raises(BadInput):
        house.change({"undo_seconds": 5} | values, by=MIRA, now=NOON)
    assert house.current().undo_seconds == 10
    assert not lines().exists()


@pytest.mark.parametrize(
    "facts",
    [
        {"pk": 2},
        {"undo_seconds": 61},
        {"drafts_wait_hours": 721},
        {"suspect_from": 0.9},
        {"spam_from": 1.01},
        {"language": "tlh"},
    ],
)
def test_the_database_keeps_one_row_within_bounds(facts):
    with pytest.raises(IntegrityError), transaction.atomic():
        House.objects.create(**({"pk": 1} | facts))


def test_a_second_change_meanwhile_is_told_what_was_changed_and_by_whom():
    seen = marks_of(house.values_of(house.current()))
    house.change({"undo_seconds": 20}, by=JON, now=NOON)
    with pytest.raises(ChangedMeanwhile) as refused:
        house.change({"undo_seconds": 30}, by=MIRA, now=NOON, seen=seen)
    assert str(refused.value) == ("jon changed Time to undo from 10 to 20 meanwhile. Look again.")
    assert refused.value.fields == ("undo_seconds",)
    assert house.current().undo_seconds == 20


def test_what_changed_and_was_changed_back_meanwhile_is_no_conflict():
    seen = marks_of(house.values_of(house.current()))
    done = house.change({"undo_seconds": 20}, by=JON, now=NOON)
    house.undo(done.line, by=JON, now=NOON)
    house.change({"undo_seconds": 30}, by=MIRA, now=NOON, seen=seen)
    assert house.current().undo_seconds == 30


def test_undo_sets_all_values_of_one_change_back_and_is_a_line_itself():
    done = house.change({"undo_seconds": 20, "spam_from": 0.8}, by=MIRA, now=NOON)
    back = house.undo(done.line, by=JON, now=NOON + timedelta(hours=1))
    assert back.turned == {"undo_seconds": [20, 10], "spam_from": [0.8, 0.9]}
    found = house.current()
    assert (found.undo_seconds, found.spam_from, found.updated_by) == (10, 0.9, JON)
    assert [line.why for line in lines()] == ["", f"Takes back line {done.line}."]


def test_an_undo_can_be_undone():
    done = house.change({"undo_seconds": 20}, by=MIRA, now=NOON)
    back = house.undo(done.line, by=MIRA, now=NOON)
    house.undo(back.line, by=MIRA, now=NOON)
    assert house.current().undo_seconds == 20


def test_undo_is_refused_where_one_value_moved_since():
    done = house.change({"undo_seconds": 20, "name": "The hall"}, by=MIRA, now=NOON)
    house.change({"undo_seconds": 30}, by=JON, now=NOON)
    with pytest.raises(StaleState, match="Changed again since: Time to undo"):
        house.undo(done.line, by=MIRA, now=NOON)
    found = house.current()
    assert (found.undo_seconds, found.name) == (30, "The hall")


def test_only_a_line_of_the_house_is_taken_back():
    other = AuditEvent.objects.record(
        "account.changed", actor=MIRA, subject="account:1", every=[5, 6]
    )
    for line in (other.pk, 0):
        with pytest.raises(NotAllowed):
            house.undo(line, by=MIRA, now=NOON)
