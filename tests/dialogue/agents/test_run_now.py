"""Run now on the page of an agent: what, through which account, and why not."""

from __future__ import annotations

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


def test_a_second_click_asks_for_nothing_more(desk: Client):
    presence = make_presence()
    run(desk, presence)
    assert "Not done:" in run(desk, presence)
    assert AuditEvent.objects.called("agent.run_asked").count() == 1


@pytest.mark.parametrize(
    "typed", [{"purpose": "dance"}, {"purpose": ""}, {"purpose": "task", "task": "  "},
              {"purpose": "task", "task": "x" * 4_001}]
)  # fmt: skip
def test_what_cannot_be_asked_for_says_why(desk: Client, typed: dict[str, str]):
    presence = make_presence()
    assert "Not done:" in run(desk, presence, **typed)
    presence.refresh_from_db()
    assert presence.run_asked_at is None


def test_an_agent_that_is_switched_off_does_not_run_and_says_so(desk: Client):
    presence = make_presence()
    AgentSettings.objects.update(is_autonomous=False)
    assert "cannot run now" in run(desk, presence)


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
