"""Settings of agents, of where they speak and of all together: what changed, and the way back."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dialogue.budgets import shared
from dialogue.models import Presence, SharedBudget
from dialogue.voice import endpoints
from surfaces.errors import NotAllowed, StaleState
from surfaces.models import Account, AuditEvent
from surfaces.settings.changes import dump_marks, marks_of
from surfaces.settings.services import change, undo, values_of
from tests.dialogue.agents.pages import url
from tests.factories import NOON, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db

JON = "operator:jon"


def words(client: Client, place: str) -> str:
    page = client.get(place)
    assert page.status_code == 200
    return unescape(" ".join(re.sub(r"<[^>]+>", "", str(page.content, "utf-8")).split()))


def last_line() -> AuditEvent:
    return AuditEvent.objects.order_by("-id")[0]


# ── an agent ──────────────────────────────────────────────────────────────


def test_each_value_says_what_it_was_and_who_changed_it(admin: Client):
    agent = make_agent(slug="gabriel")
    change(agent, {"temperature": 0.62}, by=JON, now=NOON)
    change(agent, {"tries": 4}, by="operator:mira", now=NOON)
    assert "10 → 4 by mira," in words(admin, url("agent_settings", "gabriel"))
    assert "0.7 → 0.62 by jon," in words(admin, url("agent_voice", "gabriel"))


def test_the_last_three_changes_each_say_whether_they_can_be_taken_back(admin: Client):
    agent = make_agent(slug="gabriel")
    for tries in (1, 2, 3, 4):
        change(agent, {"tries": tries}, by=JON, now=NOON)
    page = words(admin, url("agent_settings", "gabriel"))
    assert page.count("Jon changed: Attempts per comment") == 3
    assert page.count("Undo this change") == 1
    assert page.count("Changed again since: Attempts per comment") == 2


def test_one_value_of_an_agent_goes_back_to_its_default(admin: Client):
    agent = make_agent(slug="gabriel")
    change(agent, {"tries": 4, "topics": ["tides"]}, by=JON, now=NOON)
    place = url("agent_settings", "gabriel")
    html = admin.get(place).content.decode()
    assert 'name="default" value="tries"' in html
    assert 'name="default" value="spacing_seconds"' not in html
    values = values_of(agent)
    seen = dump_marks(marks_of({name: values[name] for name in values}))
    typed: dict[str, Any] = {"seen": seen, "default": "tries"}
    for name, value in values.items():
        if value is True:
            typed[name] = "on"
        elif isinstance(value, list):
            typed[name] = "\n".join(value)
        elif value is not None and value is not False:
            typed[name] = value
    page = admin.post(place, typed, follow=True).content.decode()
    assert "Saved: attempts per comment." in page
    agent.refresh_from_db()
    values = values_of(agent)
    assert (values["tries"], values["topics"]) == (10, ["tides"])


def test_a_line_with_models_is_set_back_by_hand(admin: Client):
    agent = make_agent(slug="gabriel")
    endpoints.add_brain(agent, model="openai:small", key="sk-1", by=JON)
    page = words(admin, url("agent_settings", "gabriel"))
    assert "Models and keys have no undo. Change them under Voice." in page
    assert "Undo this change" not in page


# ── where it speaks ───────────────────────────────────────────────────────


def typed(presence: Presence, **given: Any) -> dict[str, Any]:
    values = values_of(presence)
    return {**values, "explore_share": 25, "seen": dump_marks(marks_of(values))} | given


def test_a_presence_has_help_bounds_and_defaults(admin: Client):
    page = words(admin, url("change_presence", make_presence().pk))
    for said in (
        "Default As the agent", "stones 0 to 24, default 1", "% 0 to 100, default 25",
        "Maximum number of posts it writes here on its own.", "No changes yet.",
    ):  # fmt: skip
        assert said in page, said


def test_a_change_of_a_presence_is_told_and_taken_back_whole(admin: Client):
    presence = make_presence()
    place = url("change_presence", presence.pk)
    given = typed(presence, mode="shadow", explore_share="30")
    page = admin.post(place, given, follow=True).content.decode()
    assert "Saved: mode, exploration." in page
    assert Account.objects.get().mode == "shadow"
    said = words(admin, place)
    assert "Exploration from 25 to 30 %" in said
    admin.post(url("undo_presence", presence.pk), {"line": last_line().pk})
    presence.refresh_from_db()
    assert (presence.mode, presence.explore_share) == ("", 0.25)
    assert Account.objects.get().mode == "review"
    assert last_line().facts["undoes"]


def test_a_presence_that_moved_since_is_not_set_back():
    presence = make_presence()
    change(presence, {"stones_per_day": 2}, by=JON, now=NOON)
    first = last_line()
    change(presence, {"stones_per_day": 3}, by=JON, now=NOON)
    with pytest.raises(StaleState, match="stones per day was changed again since"):
        undo(presence, first, by=JON, now=NOON)
    assert Presence.objects.get().stones_per_day == 3


def test_a_presence_changed_meanwhile_is_not_overwritten(admin: Client):
    presence = make_presence()
    given = typed(presence, stones_per_day="5")
    change(presence, {"stones_per_day": 2}, by=JON, now=NOON)
    assert admin.post(url("change_presence", presence.pk), given).status_code == 409
    assert Presence.objects.get().stones_per_day == 2


def test_a_line_of_another_agents_presence_is_not_undone():
    presence, other = make_presence(), make_presence()
    change(other, {"stones_per_day": 2}, by=JON, now=NOON)
    with pytest.raises(NotAllowed):
        undo(presence, last_line(), by=JON, now=NOON)


# ── the budget of all ─────────────────────────────────────────────────────


def test_the_budget_of_all_is_changed_and_taken_back(admin: Client):
    place = url("set_house_budget")
    assert "US dollars 0 to 100,000, default 5" in words(admin, place)
    change(shared.current(), {"money_per_day": 7, "tokens_per_day": 9}, by=JON, now=NOON)
    said = words(admin, place)
    assert (
        "Jon changed: Money a day from 5 to 7 US dollars Tokens a day from 1,000,000 to 9" in said
    )
    admin.post(url("undo_house_budget"), {"line": last_line().pk})
    row = SharedBudget.current()
    assert (row.money_per_day, row.tokens_per_day) == (5, 1_000_000)


def test_a_budget_that_moved_since_is_not_set_back():
    change(shared.current(), {"money_per_day": 7}, by=JON, now=NOON)
    first = last_line()
    change(shared.current(), {"money_per_day": 8}, by=JON, now=NOON)
    with pytest.raises(StaleState, match="money per day"):
        undo(shared.current(), first, by=JON, now=NOON)


# ── all of them ───────────────────────────────────────────────────────────


def test_no_page_of_settings_asks_more_than_twelve_times(admin: Client):
    presence = make_presence()
    for number in range(1, 9):
        change(presence, {"stones_per_day": number + 1}, by=JON, now=NOON)
        change(presence.agent, {"tries": number}, by=JON, now=NOON)
        change(shared.current(), {"money_per_day": number + 10}, by=JON, now=NOON)
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


def test_what_exploration_reads_is_listed_among_the_changes_and_taken_back(admin: Client):
    agent = make_agent(slug="gabriel")
    change(agent, {"topics": ["tides"], "tries": 5}, by=JON, now=NOON)
    page = words(admin, url("agent_settings", "gabriel"))
    assert page.count("Topics from nothing to tides") == 1
    admin.post(url("undo_change", "gabriel"), {"line": last_line().pk})
    assert values_of(agent)["topics"] == []
