"""The house: what holds for everybody, changed by one person at a time, and taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent, InstanceSettings
from surfaces.settings.changes import marks_of
from surfaces.settings.instance import current
from surfaces.settings.services import ChangedMeanwhile, change, undo, values_of
from surfaces.spam.classify import thresholds_of
from surfaces.spam.scoring import Thresholds
from tests.factories import NOON, event_of

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

MIRA, JON = "operator:mira", "operator:jon"


def lines():
    return AuditEvent.objects.filter(subject="house:settings").order_by("id")


def test_a_house_nobody_changed_has_the_defaults_and_no_row(django_assert_num_queries):
    with django_assert_num_queries(1):
        found = current()
    assert (found.name, found.language) == ("Colloquy", "en")
    assert (found.undo_seconds, found.drafts_wait_hours) == (10, 0)
    assert thresholds_of(found) == Thresholds()
    assert not InstanceSettings.objects.exists()


def test_a_change_is_one_line_with_what_was_and_what_became():
    done = change(current(), {"undo_seconds": 20, "name": "The hall"}, by=MIRA, now=NOON)
    line = lines().get()
    assert done.pairs == {"undo_seconds": [10, 20], "name": ["Colloquy", "The hall"]}
    assert (line.pk, line.actor, line.action) == (done.event_id, MIRA, "house.changed")
    assert line.facts == done.pairs
    found = current()
    assert (found.undo_seconds, found.name) == (20, "The hall")
    assert (found.updated_at, found.updated_by) == (NOON, MIRA)


def test_what_is_the_same_writes_nothing():
    assert not change(current(), {"undo_seconds": 10}, by=MIRA, now=NOON)
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
        change(current(), {"undo_seconds": 5} | values, by=MIRA, now=NOON)
    assert current().undo_seconds == 10
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
        InstanceSettings.objects.create(**({"pk": 1} | facts))


def test_a_second_change_meanwhile_is_told_what_was_changed_and_by_whom():
    seen = marks_of(values_of(current()))
    change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    with pytest.raises(ChangedMeanwhile) as refused:
        change(current(), {"undo_seconds": 30}, by=MIRA, now=NOON, seen=seen)
    assert str(refused.value) == ("Changed after you opened this page: undo seconds. Look again.")
    assert refused.value.fields == ("undo_seconds",)
    assert current().undo_seconds == 20


def test_what_changed_and_was_changed_back_meanwhile_is_no_conflict():
    seen = marks_of(values_of(current()))
    done = change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    undo(current(), event_of(done), by=JON, now=NOON)
    change(current(), {"undo_seconds": 30}, by=MIRA, now=NOON, seen=seen)
    assert current().undo_seconds == 30


def test_undo_sets_all_values_of_one_change_back_and_is_a_line_itself():
    done = change(current(), {"undo_seconds": 20, "spam_from": 0.8}, by=MIRA, now=NOON)
    back = undo(current(), event_of(done), by=JON, now=NOON + timedelta(hours=1))
    assert back.pairs == {"undo_seconds": [20, 10], "spam_from": [0.8, 0.9]}
    found = current()
    assert (found.undo_seconds, found.spam_from, found.updated_by) == (10, 0.9, JON)
    assert [line.facts.get("undoes") for line in lines()] == [None, done.event_id]


def test_an_undo_can_be_undone():
    done = change(current(), {"undo_seconds": 20}, by=MIRA, now=NOON)
    back = undo(current(), event_of(done), by=MIRA, now=NOON)
    undo(current(), event_of(back), by=MIRA, now=NOON)
    assert current().undo_seconds == 20


def test_undo_is_refused_where_one_value_moved_since():
    done = change(current(), {"undo_seconds": 20, "name": "The hall"}, by=MIRA, now=NOON)
    change(current(), {"undo_seconds": 30}, by=JON, now=NOON)
    with pytest.raises(StaleState, match="undo seconds was changed again since"):
        undo(current(), event_of(done), by=MIRA, now=NOON)
    found = current()
    assert (found.undo_seconds, found.name) == (30, "The hall")


def test_only_a_line_of_the_house_is_taken_back():
    other = AuditEvent.objects.record(
        "account.changed", actor=MIRA, subject="account:1", every=[5, 6]
    )
    with pytest.raises(NotAllowed):
        undo(current(), other, by=MIRA, now=NOON)
