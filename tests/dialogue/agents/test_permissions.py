"""Who may look at the pages of agents, and who may change what stands there."""

from __future__ import annotations

import pytest
from django.test import Client

from dialogue.voice import endpoints
from tests.dialogue.agents.pages import ADA, places, url, wake
from tests.factories import make_operator, make_presence

pytestmark = pytest.mark.django_db


def test_a_viewer_reads_every_page_and_changes_nothing(client: Client):
    presence = make_presence()
    waking = wake(presence)
    brain = endpoints.add_brain(presence.agent, model="openai:small", by=ADA)
    client.force_login(make_operator(role="viewer"))
    for place in places(presence, waking):
        assert client.get(place).status_code == 200, place
    slug = presence.agent.slug
    acts = [
        url("new_agent"), url("set_house_budget"), url("clear_back_off", slug),
        url("add_presence", slug), url("change_presence", presence.pk),
        url("end_presence", presence.pk), url("agent_settings", slug), url("undo_change", slug),
        url("agent_voice", slug), url("add_brain", slug), url("change_brain", brain.pk),
        url("move_brain", brain.pk), url("remove_brain", brain.pk), url("try_voice", slug),
    ]  # fmt: skip
    for act in acts:
        assert client.post(act).status_code == 403, act


def test_a_moderator_manages_no_agent(desk: Client):
    presence = make_presence()
    for act in (url("agent_settings", presence.agent.slug), url("end_presence", presence.pk)):
        assert "Only administrators" in desk.post(act).content.decode()


def test_an_agent_that_is_not_there_is_said_so(desk: Client):
    for name in ("agent", "agent_inbox", "agent_settings", "agent_voice"):
        assert desk.get(url(name, "nobody")).status_code == 404
    assert desk.get(url("activation", 99)).status_code == 404
