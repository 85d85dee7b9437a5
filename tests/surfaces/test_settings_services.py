"""One change and one undo for every kind of row that has settings."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogue.budgets import shared
from surfaces.errors import BadInput, NotAllowed, RuleBroken
from surfaces.models import AuditEvent, InstanceSettings
from surfaces.settings import services
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.instance import current
from surfaces.settings.services import (
    ChangedMeanwhile,
    change,
    events_of,
    spec_of,
    undo,
    values_of,
)
from surfaces.text.reasons import SENTENCES
from tests.factories import (
    NOON,
    event_of,
    make_account,
    make_agent,
    make_operator,
    make_presence,
    make_surface,
)

pytestmark = pytest.mark.django_db

ADA, JON = "operator:ada", "operator:jon"
ROWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "instance": (current, {"undo_seconds": 20}),
    "account": (make_account, {"every": 30}),
    "surface": (make_surface, {"limit_read": [20, 30]}),
    "operator": (make_operator, {"role": "viewer"}),
    "agent": (make_agent, {"tries": 4}),
    "presence": (make_presence, {"stones_per_day": 3}),
    "shared budget": (shared.current, {"tokens_per_day": 7}),
}


@pytest.fixture(params=ROWS.values(), ids=ROWS)
def case(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any]]:
    make, values = request.param
    return make(), values


def test_every_noun_changes_and_undoes_the_same_way(case: tuple[Any, dict[str, Any]]):
    row, values = case
    before = values_of(row)
    saved = change(row, values, by=ADA, now=NOON, why="Calmer.")
    event = event_of(saved)
    assert (event.action, event.actor) == (spec_of(row).action, ADA)
    assert str(event.why) == "Calmer."
    assert event.action.endswith(".changed")
    assert {name: pair[1] for name, pair in saved.pairs.items()} == values
    assert values_of(row) != before
    undone = undo(row, event, by=JON, now=NOON)
    assert {name: value for name, value in values_of(row).items() if value is not None} == {
        name: value for name, value in before.items() if value is not None
    }
    assert event_of(undone).facts["undoes"] == event.pk
    assert [found.pk for found in events_of(row)] == [saved.event_id, undone.event_id]
    with pytest.raises(ChangedMeanwhile, match="changed again since"):
        undo(row, event, by=JON, now=NOON)


def test_every_noun_refuses_a_lost_update_and_merges_the_rest(case: tuple[Any, dict[str, Any]]):
    row, values = case
    seen = marks_of(values_of(row) | {name: None for name in values if "limit" in name})
    change(row, values, by=JON, now=NOON)
    with pytest.raises(ChangedMeanwhile) as refused:
        change(row, _others(values), by=ADA, now=NOON, seen=seen)
    assert refused.value.fields == tuple(values)
    kept = {name: value for name, value in values_of(row).items() if name not in values}
    assert not change(row, kept, by=ADA, now=NOON, seen=seen)  # theirs, left alone: no event
    assert events_of(row).count() == 1


def _others(values: dict[str, Any]) -> dict[str, Any]:
    """Values that are neither what was there nor these."""
    other = {"viewer": "admin"}
    return {
        name: [1, 1] if isinstance(value, list) else other.get(value) or value + 1
        for name, value in values.items()
    }


def test_every_noun_refuses_what_it_does_not_know(case: tuple[Any, dict[str, Any]]):
    row, _values = case
    with pytest.raises(BadInput, match="There is no setting id, pk"):
        change(row, {"pk": 2, "id": 2}, by=ADA, now=NOON)


def test_an_event_of_another_row_is_not_undone(case: tuple[Any, dict[str, Any]]):
    row, _values = case
    other = change(make_account(), {"every": 9}, by=ADA, now=NOON)
    with pytest.raises(NotAllowed):
        undo(row, event_of(other), by=ADA, now=NOON)
    text = AuditEvent.objects.record("agent.changed", actor=ADA, subject=row, models=["a", "b"])
    with pytest.raises(NotAllowed):
        undo(row, text, by=ADA, now=NOON)


def test_two_people_who_change_different_settings_both_have_them_saved(client: Client):
    client.force_login(make_operator(username="ada", role="admin"))
    shown = values_of(current())
    typed = {**shown, "seen": dump_marks(marks_of(shown)), "undo_seconds": "30"}
    change(current(), {"name": "The hall"}, by=JON, now=NOON)
    assert client.post(reverse("surfaces:house_settings"), typed).status_code == 302
    assert (current().name, current().undo_seconds) == ("The hall", 30)
    assert events_of(current()).last().facts == {"undo_seconds": [10, 30]}  # type: ignore[union-attr]


def test_a_conflict_shows_both_values_and_saving_again_overwrites(client: Client):
    client.force_login(make_operator(username="ada", role="admin"))
    shown = values_of(current())
    typed = {**shown, "seen": dump_marks(marks_of(shown)), "undo_seconds": "30"}
    change(current(), {"undo_seconds": 20}, by=JON, now=NOON)
    refused = client.post(reverse("surfaces:house_settings"), typed)
    page = refused.content.decode()
    assert refused.status_code == 409
    assert "Undo window</a> is now <b><bdi>20</bdi></b> seconds" in page
    assert 'name="undo_seconds" value="30"' in page
    again = typed | {"seen": dump_marks(marks_of(values_of(current())))}
    assert client.post(reverse("surfaces:house_settings"), again).status_code == 302
    assert current().undo_seconds == 30


def test_a_broken_rule_fills_in_its_values_when_it_is_shown():
    assert str(RuleBroken("Draft %(id)s was already sent.", id=7)) == "Draft 7 was already sent."
    assert str(RuleBroken("100% wrong")) == "100% wrong"


def test_the_interests_that_exploration_reads_are_on_the_form(client: Client):
    client.force_login(make_operator(username="ada", role="admin"))
    page = client.get(reverse("dialogue:agent_settings", args=[make_agent().slug]))
    for name in ("topics", "communities", "keywords", "follows"):
        assert f'name="{name}"' in page.content.decode()


def test_a_row_of_settings_appears_with_its_first_change():
    assert not InstanceSettings.objects.exists()
    change(current(), {"undo_seconds": 20}, by=ADA, now=NOON)
    assert InstanceSettings.objects.get().updated_by == ADA


def test_every_value_that_can_be_set_has_words_in_the_audit_log():
    names = {name for spec in services._specs.values() for name in spec.fields}
    assert [name for name in sorted(names) if f"fact.{name}" not in SENTENCES] == []
