"""Settings of agents, of where they speak and of all together: what changed, and the way back."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dialogue import presences, tuning
from dialogue.models import HouseBudget, Presence
from dialogue.overview import changes
from surfaces.changes import marks_of, told
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import Account, AuditEvent
from tests.dialogue.agents_pages import url
from tests.factories import NOON, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db

JON = "operator:jon"


def words(client: Client, place: str) -> str:
    page = client.get(place)
    assert page.status_code == 200
    return unescape(" ".join(re.sub(r"<[^>]+>", "", page.content.decode()).split()))


def last_line() -> AuditEvent:
    return AuditEvent.objects.order_by("-id")[0]


# ── an agent ──────────────────────────────────────────────────────────────


def test_each_value_says_what_it_was_and_who_changed_it(admin: Client):
    agent = make_agent(slug="gabriel")
    tuning.change_agent(agent, {"temperature": 0.62}, by=JON, now=NOON)
    tuning.change_agent(agent, {"tries": 4}, by="operator:mira", now=NOON)
    assert "10 → 4 by mira," in words(admin, url("agent_settings", "gabriel"))
    assert "0.7 → 0.62 by jon," in words(admin, url("agent_voice", "gabriel"))


def test_the_last_three_changes_each_say_whether_they_can_be_taken_back(admin: Client):
    agent = make_agent(slug="gabriel")
    for tries in (1, 2, 3, 4):
        tuning.change_agent(agent, {"tries": tries}, by=JON, now=NOON)
    page = words(admin, url("agent_settings", "gabriel"))
    assert page.count("Jon set Tries per comment") == 3
    assert page.count("Undo this change") == 1
    assert page.count("Changed again since: Tries per comment") == 2


def test_one_value_of_an_agent_goes_back_to_its_default(admin: Client):
    agent = make_agent(slug="gabriel")
    tuning.change_agent(agent, {"tries": 4, "topics": ["tides"]}, by=JON, now=NOON)
    place = url("agent_settings", "gabriel")
    html = admin.get(place).content.decode()
    assert 'name="default" value="tries"' in html
    assert 'name="default" value="spacing_seconds"' not in html
    history = changes.last_of(agent)
    assert history.last
    values = tuning.values_of(agent)
    seen = told(marks_of({name: values[name] for name in values}))
    typed: dict[str, Any] = {"seen": seen, "default": "tries"}
    for name, value in values.items():
        if value is True:
            typed[name] = "on"
        elif isinstance(value, list):
            typed[name] = "\n".join(value)
        elif value is not None and value is not False:
            typed[name] = value
    page = admin.post(place, typed, follow=True).content.decode()
    assert "Saved: tries per comment." in page
    agent.refresh_from_db()
    values = tuning.values_of(agent)
    assert (values["tries"], values["topics"]) == (10, ["tides"])


def test_a_line_with_models_is_set_back_by_hand(admin: Client):
    agent = make_agent(slug="gabriel")
    tuning.add_brain(agent, model="openai:small", key="sk-1", by=JON)
    page = words(admin, url("agent_settings", "gabriel"))
    assert "Models and keys are set back by hand, under Voice." in page
    assert "Undo this change" not in page


# ── where it speaks ───────────────────────────────────────────────────────


def typed(presence: Presence, **given: Any) -> dict[str, Any]:
    values = presences.values_of(presence)
    return {**values, "seen": told(marks_of(values))} | given


def test_a_presence_has_help_bounds_and_defaults(admin: Client):
    page = words(admin, url("change_presence", make_presence().pk))
    for said in (
        "Default As the agent", "stones 0 to 24, default 1", "% 0 to 100, default 25",
        "Posts it may begin here by itself.", "Everything is as it was made.",
    ):  # fmt: skip
        assert said in page, said


def test_a_change_of_a_presence_is_told_and_taken_back_whole(admin: Client):
    presence = make_presence()
    place = url("change_presence", presence.pk)
    given = typed(presence, mode="shadow", explore_share="30")
    page = admin.post(place, given, follow=True).content.decode()
    assert "Saved: mode, exploring." in page
    assert Account.objects.get().mode == "shadow"
    said = words(admin, place)
    assert "Exploring from 25 to 30 %" in said
    admin.post(url("undo_presence", presence.pk), {"line": last_line().pk})
    presence.refresh_from_db()
    assert (presence.mode, presence.explore_share) == ("", 0.25)
    assert Account.objects.get().mode == "review"
    assert last_line().why.startswith("Takes back line")


def test_a_presence_that_moved_since_is_not_set_back():
    presence = make_presence()
    presences.change(presence, by=JON, stones_per_day=2)
    first = last_line()
    presences.change(presence, by=JON, stones_per_day=3)
    with pytest.raises(StaleState, match="Changed again since: stones per day"):
        presences.undo(first, presence, by=JON)
    assert Presence.objects.get().stones_per_day == 3


def test_a_presence_changed_meanwhile_is_not_overwritten(admin: Client):
    presence = make_presence()
    given = typed(presence, stones_per_day="5")
    presences.change(presence, by=JON, stones_per_day=2)
    assert admin.post(url("change_presence", presence.pk), given).status_code == 409
    assert Presence.objects.get().stones_per_day == 2


def test_a_line_of_another_agents_presence_is_not_undone():
    presence, other = make_presence(), make_presence()
    presences.change(other, by=JON, stones_per_day=2)
    with pytest.raises(NotAllowed):
        presences.undo(last_line(), presence, by=JON)


# ── the budget of all ─────────────────────────────────────────────────────


def test_the_budget_of_all_is_changed_and_taken_back(admin: Client):
    place = url("set_house_budget")
    assert "US dollars 0 or more, default 5" in words(admin, place)
    tuning.set_house_budget({"money_per_day": 7, "tokens_per_day": 9}, by=JON)
    said = words(admin, place)
    assert "Jon set Money a day from 5 to 7 US dollars and Tokens a day from 1,000,000 to 9" in said
    admin.post(url("undo_house_budget"), {"line": last_line().pk})
    row = HouseBudget.current()
    assert (row.money_per_day, row.tokens_per_day) == (5, 1_000_000)


def test_a_budget_that_moved_since_is_not_set_back():
    tuning.set_house_budget({"money_per_day": 7}, by=JON)
    first = last_line()
    tuning.set_house_budget({"money_per_day": 8}, by=JON)
    with pytest.raises(StaleState, match="money per day"):
        tuning.undo_house_budget(first, by=JON)


# ── all of them ───────────────────────────────────────────────────────────


def test_no_page_of_settings_asks_more_than_twelve_times(admin: Client):
    presence = make_presence()
    for number in range(1, 9):
        presences.change(presence, by=JON, stones_per_day=number + 1)
        tuning.change_agent(presence.agent, {"tries": number}, by=JON, now=NOON)
        tuning.set_house_budget({"money_per_day": number + 10}, by=JON)
    places = [
        url("agent_settings", presence.agent.slug), url("set_house_budget"),
        url("change_presence", presence.pk),
    ]  # fmt: skip
    for place in places:
        with CaptureQueriesContext(connection) as asked:
            assert admin.get(place).status_code == 200
        assert len(asked) <= 12, (place, len(asked))


def test_others_look_and_do_not_touch(client: Client):
    presence = make_presence()
    client.force_login(make_operator(role="viewer"))
    for place in (url("change_presence", presence.pk), url("set_house_budget")):
        assert "Only administrators change settings." in words(client, place)
        assert client.post(place, {}).status_code == 403
    for place in (url("undo_presence", presence.pk), url("undo_house_budget")):
        assert client.post(place, {"line": "1"}).status_code == 403


def test_a_limited_operator_finds_only_presences_within_reach(client: Client):
    within, outside = make_presence(), make_presence()
    client.force_login(make_operator(role="moderator", agents=[within.agent.slug]))
    assert client.get(url("change_presence", within.pk)).status_code == 200
    assert client.get(url("change_presence", outside.pk)).status_code == 404
    assert client.get(url("agent_settings", outside.agent.slug)).status_code == 404
