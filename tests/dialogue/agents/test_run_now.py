"""Run now on the page of an agent: what, through which account, and why not."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.models import Agent, AgentSettings, Presence
from surfaces.models import AuditEvent
from tests.dialogue.agents.pages import html, url, wake
from tests.factories import make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db


def run(client: Client, presence: Presence, **typed: object) -> str:
    asked = {"presence": presence.pk, "purpose": "explore", **typed}
    return client.post(url("run_agent", presence.agent.slug), asked, follow=True).content.decode()


def test_a_task_is_asked_for_with_its_text(desk: Client):
    presence = make_presence()
    page = run(desk, presence, purpose="task", task="Look at <b>tides</b>.")
    presence.refresh_from_db()
    assert (presence.run_purpose, presence.run_task) == ("task", "Look at <b>tides</b>.")
    assert "It begins as soon as a worker is free." in page
    assert "Run requested by" in page
    assert AuditEvent.objects.called("agent.run_asked").count() == 1


def test_what_was_typed_for_a_task_is_no_part_of_an_exploration(desk: Client):
    presence = make_presence()
    run(desk, presence, purpose="explore", task="forgotten text")
    presence.refresh_from_db()
    assert (presence.run_purpose, presence.run_task) == ("explore", "")


def refused(client: Client, presence: Presence, **typed: object) -> str:
    """The page with the form again, where nothing was asked for."""
    asked = {"presence": presence.pk, "purpose": "explore", **typed}
    response = client.post(url("run_agent", presence.agent.slug), asked)
    assert response.status_code == 422
    page = response.content.decode()
    assert '<details class="confirm" data-closes open>' in page
    return page


def test_a_second_click_asks_for_nothing_more(desk: Client):
    presence = make_presence()
    run(desk, presence)
    page = refused(desk, presence, purpose="task", task="Look at tides.")
    assert "already asked for a run. It begins when a worker is free." in page
    assert "Look at tides.</textarea>" in page
    assert AuditEvent.objects.called("agent.run_asked").count() == 1


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"purpose": "dance"}, "Select a valid choice."),
        ({"purpose": ""}, "Choose what it should do."),
        ({"purpose": "task", "task": "  "}, "Say what the agent should do."),
        ({"purpose": "task", "task": "x" * 4_001}, "The task has 4,001 characters."),
    ],
)
def test_what_cannot_be_asked_for_says_why_in_the_form(
    desk: Client, typed: dict[str, str], says: str
):
    presence = make_presence()
    assert says in refused(desk, presence, **typed)
    presence.refresh_from_db()
    assert presence.run_asked_at is None


def test_the_error_stands_at_the_task_and_what_was_typed_is_kept(desk: Client):
    presence = make_presence()
    other = make_presence(agent=presence.agent)
    where = url("agent_tools", presence.agent.slug)
    text = "<b>tides</b> " * 400
    page = refused(desk, other, purpose="task", task=text, next=where)
    assert 'aria-invalid="true"' in page
    assert 'id="error-task" role="alert"' in page
    assert "&lt;b&gt;tides&lt;/b&gt; " * 399 in page
    assert re.search(r'name="purpose" value="task"[^>]* checked', page)
    assert page.count('name="task"') == 1
    assert f'<option value="{other.pk}" selected>' in page
    assert f'name="next" value="{where}"' in page


def test_a_line_break_counts_once_as_in_the_browser(desk: Client):
    presence = make_presence()
    run(desk, presence, purpose="task", task="\r\n".join("x" * 2_000))
    presence.refresh_from_db()
    assert len(presence.run_task) == 3_999


def test_the_address_of_a_refused_run_leads_back_to_the_agent(desk: Client):
    slug = make_presence().agent.slug
    response = desk.get(url("run_agent", slug))
    assert (response.status_code, response["Location"]) == (302, url("agent", slug))


def test_an_agent_that_is_switched_off_does_not_run_and_says_so(desk: Client):
    presence = make_presence()
    AgentSettings.objects.update(is_autonomous=False)
    assert "cannot run now" in refused(desk, presence, purpose="task", task="Look")


def test_only_live_accounts_of_this_agent_within_reach_can_be_named(client: Client):
    presence, other = make_presence(), make_presence()
    client.force_login(make_operator(role="moderator", agents=[presence.agent.slug]))
    at = url("run_agent", presence.agent.slug)
    for pk, status in ((other.pk, 404), (10**30, 400), ("x", 400), ("", 404)):
        assert client.post(at, {"presence": pk, "purpose": "explore"}).status_code == status
    assert client.post(url("run_agent", other.agent.slug)).status_code == 404
    Presence.objects.filter(pk=presence.pk).update(ended_at=timezone.now())
    asked = {"presence": presence.pk, "purpose": "explore"}
    assert client.post(at, asked).status_code == 404


def test_who_reads_only_cannot_run(client: Client):
    presence = make_presence()
    client.force_login(make_operator(role="viewer"))
    assert "You have read-only access." in html(client, "agent", presence.agent.slug)
    assert client.post(url("run_agent", presence.agent.slug)).status_code == 403


def test_an_agent_without_an_account_says_what_to_do_first(desk: Client):
    assert "Assign an account first." in html(desk, "agent", make_agent().slug)


def test_the_overview_says_when_it_can_run_next(desk: Client):
    presence = make_presence()
    agent = presence.agent
    assert "When a comment is due" in html(desk, "agent", agent.slug)
    Agent.objects.update(due_at=timezone.now())
    assert "Due since" in html(desk, "agent", agent.slug)
    waking = wake(presence)
    page = html(desk, "agent", agent.slug)
    assert f"Activation {waking.pk}</a>" in page
    assert "its lease lasts until" in page
