"""The memory of an agent: every note with its trust and sources, searched and deleted."""

from __future__ import annotations

import pytest
from django.test import Client

from dialogue.models import Agent, AgentSettings, Memory
from surfaces.models import AuditEvent
from tests.dialogue.activations.factories import make_memory
from tests.dialogue.agents.pages import html, url
from tests.factories import make_agent, make_message, make_operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return make_agent(slug="iris")


def test_a_note_shows_its_trust_and_what_it_rests_on(desk: Client, agent: Agent):
    message = make_message(author="odile")
    sources = [
        {"kind": "message", "id": str(message.pk), "author": "<b>odile</b>", "trust": 0},
        {"kind": "page", "id": "javascript:alert(1)", "author": "", "trust": 0},
        {"kind": "message", "id": "x" * 500}, "nonsense", {},
    ]  # fmt: skip
    make_memory(agent, words="Tides <script>alert(1)</script>", sources=sources, trust=0)
    page = html(desk, "agent_memory", "iris")
    assert "trust: other people" in page
    assert f'href="/messages/{message.pk}/"' in page
    assert "&lt;b&gt;odile" in page
    assert "<script>alert(1)" not in page
    assert 'href="javascript' not in page


def test_notes_are_found_by_their_words_and_topics(desk: Client, agent: Agent):
    make_memory(agent, words="Slack water lasts a moment.", topic="tides")
    make_memory(agent, words="谁决定潮水？", topic="")
    make_memory(make_agent(), words="Slack water of somebody else.")
    for asked, found in (("slack", 1), ("TIDES", 1), ("潮水", 1), ("zzz", 0), ('"', 0)):
        page = html(desk, "agent_memory", "iris", query=f"?q={asked}")
        assert page.count('<li id="memory-') == found, asked
    assert "somebody else" not in html(desk, "agent_memory", "iris")
    assert "No matching notes" in html(desk, "agent_memory", "iris", query="?q=zzz")


def test_its_size_is_shown_with_the_cap(desk: Client, agent: Agent):
    AgentSettings.objects.update(memory_kilobytes=4)
    make_memory(agent, words="x" * 2_043)  # and 5 of the topic
    assert "2 of 4 kB" in html(desk, "agent_memory", "iris")


def test_without_notes_it_says_what_an_agent_needs_to_write_some(desk: Client, agent: Agent):
    page = html(desk, "agent_memory", "iris")
    assert "No notes yet" in page
    assert "memory:write" in page
    assert "Delete all" not in page


def test_embedding_search_is_said_to_be_keyword_search(desk: Client, agent: Agent):
    says = "There is no embedding search here"
    assert says not in html(desk, "agent_memory", "iris")
    AgentSettings.objects.update(memory_strategy="embedding_search")
    assert says in html(desk, "agent_memory", "iris")


def test_one_note_is_deleted_and_the_audit_log_says_so(desk: Client, agent: Agent):
    kept, gone = make_memory(agent), make_memory(agent)
    assert "Note deleted." in desk.post(url("forget", gone.pk), follow=True).content.decode()
    assert list(Memory.objects.all()) == [kept]
    assert AuditEvent.objects.called("memory.forgotten").count() == 1
    assert desk.post(url("forget", gone.pk)).status_code == 404


def test_all_notes_are_deleted_by_administrators(admin: Client, agent: Agent):
    for _ in range(3):
        make_memory(agent)
    others = make_memory(make_agent())
    page = admin.post(url("forget_all", "iris"), follow=True).content.decode()
    assert "3 notes deleted." in page
    assert list(Memory.objects.all()) == [others]


def test_who_may_not_deletes_nothing(client: Client, agent: Agent):
    memory, other = make_memory(agent), make_memory(make_agent())
    client.force_login(make_operator(role="viewer"))
    page = html(client, "agent_memory", "iris")
    assert "Delete" not in page.partition('id="main"')[2]
    for act in (url("forget", memory.pk), url("forget_all", "iris")):
        assert client.post(act).status_code == 403
    client.force_login(make_operator(role="moderator", agents=["iris"]))
    assert client.post(url("forget_all", "iris")).status_code == 403
    assert client.post(url("forget", other.pk)).status_code == 404
    assert Memory.objects.count() == 2
