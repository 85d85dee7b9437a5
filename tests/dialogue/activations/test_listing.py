"""Whose wakings are shown, and in which state: chosen from a list, as with stones."""

from __future__ import annotations

import pytest
from django.test import Client

from dialogue.models import Agent
from tests.dialogue.agents.pages import html, url, wake
from tests.factories import make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db


def test_wakings_are_chosen_by_the_names_of_agents(desk: Client):
    wake(make_presence(agent=make_agent(slug="lian", name="莲 Lián")))
    page = html(desk, "activations", query="?agent=lian")
    assert '<option value="lian" selected>莲 Lián</option>' in page
    assert '<option value="">All agents</option>' in page


def test_an_agent_nobody_knows_stays_readable_in_the_choice(desk: Client):
    make_agent()
    page = html(desk, "activations", query="?agent=<b>x</b>")
    assert "<option selected>&lt;b&gt;x&lt;/b&gt;</option>" in page
    assert "No matching activations" in page


def test_without_an_agent_there_is_nothing_to_choose(desk: Client):
    page = html(desk, "activations")
    assert "No activations yet" in page
    assert 'class="filters"' not in page


@pytest.mark.parametrize("slug", ["UPPER", "Lian", "li_an", "-lian", "l" * 64])
def test_a_short_name_is_what_its_help_says(admin: Client, slug: str):
    answer = admin.post(url("new_agent"), {"slug": slug})
    assert answer.status_code == 422
    assert 'class="error shown"' in answer.content.decode()
    assert not Agent.objects.exists()


def test_the_address_of_a_new_agent_opens_its_form(admin: Client):
    opened = '<details class="confirm" data-closes open><summary class="btn">'
    assert opened in html(admin, "new_agent")
    assert opened not in html(admin, "agents")


def test_only_administrators_open_the_form_of_a_new_agent(client: Client):
    client.force_login(make_operator(role="moderator"))
    assert client.get(url("new_agent")).status_code == 403
