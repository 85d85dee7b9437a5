"""The tools of an agent: which are offered and why not, grants in words, last calls."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from pydantic import BaseModel

from dialogue.agents.models.settings import ToolRisk
from dialogue.models import AgentSettings, Presence
from dialogue.tools.base import Tool, ToolResult
from dialogue.tools.registry import TOOLS
from tests.dialogue.activations.factories import make_item, make_tool_call
from tests.dialogue.agents.pages import html, url, wake
from tests.factories import make_account, make_agent, make_operator, make_presence, make_surface

pytestmark = pytest.mark.django_db


class Nothing(BaseModel):
    pass


def a_tool(name: str, risk: str, scope: str, **more: Any) -> Tool:
    return Tool(
        name=name, description="Does <b>nothing</b>.", arguments=Nothing, risk=ToolRisk(risk),
        scope=scope, run=lambda context, arguments: ToolResult(text=""), **more,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(TOOLS):
        monkeypatch.delitem(TOOLS, name)
    for tool in (
        a_tool("look", "read", "hub:read"),
        a_tool("say", "publish", "hub:write"),
        a_tool("keep", "write", "memory:write"),
        a_tool("dig", "execute", "shell:run", is_available=lambda account: False),
    ):
        monkeypatch.setitem(TOOLS, tool.name, tool)


@pytest.fixture
def presence() -> Presence:
    account = make_account(surface=make_surface(kind="hub"))
    return make_presence(account=account, settings={"voice": "model"})


def lines(client: Client, presence: Presence) -> dict[str, str]:
    """Tool: what its row says."""
    page = html(client, "agent_tools", presence.agent.slug)
    rows = re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", page, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    return {text.partition(" ")[0]: text for text in texts}


def grant(*grants: str, **more: Any) -> None:
    AgentSettings.objects.update(grants=list(grants), **more)


def test_each_tool_says_whether_it_is_offered_and_what_a_call_does(desk: Client, presence):
    grant("hub:read", "hub:write")
    found = lines(desk, presence)
    assert "yes Reads Runs at once." in found["look"]
    assert "yes Publishes Writes a draft, by the mode." in found["say"]
    assert "no The services of its accounts cannot do this." in found["dig"]
    assert "Does &lt;b&gt;nothing" in found["look"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"grants": []}, "Not granted. It needs hub:read."),
        ({"grants": ["hub:read", "!hub:*"]}, "Not granted. It needs hub:read."),
        ({"on_read": "deny"}, "Its settings deny tools of this kind."),
        ({"max_tool_calls": 0}, "The limit of tool calls is 0."),
        ({"voice": "scripted"}, "The scripted voice calls no tools."),
    ],
)
def test_what_is_not_offered_says_why(desk: Client, presence, given: dict[str, Any], why: str):
    AgentSettings.objects.update(**{"grants": ["hub:read"], **given})
    assert why in lines(desk, presence)["look"]


def test_tools_of_memory_need_memory_to_be_on(desk: Client, presence):
    grant("memory:*")
    assert "“Use memory” is off." in lines(desk, presence)["keep"]
    grant("memory:*", has_memory=True)
    assert "Runs at once." in lines(desk, presence)["keep"]


def test_what_needs_approval_says_what_becomes_of_a_call(desk: Client, presence):
    for mode, says in (("ask", "Waits for an operator."), ("skip", "Skipped, unless a rule"),
                       ("policy", "Denied, unless a rule")):  # fmt: skip
        grant("hub:read", on_read="ask", approval_mode=mode)
        assert says in lines(desk, presence)["look"]


def test_grants_are_told_in_words_and_an_unreadable_one_is_named(desk: Client, presence):
    grant("hub:read", "!hub:write:tides", "no grant")
    page = html(desk, "agent_tools", presence.agent.slug)
    assert "<code>!hub:write:tides</code>" in page
    assert "denies" in page
    assert "not valid" in page


def test_without_grants_and_calls_it_says_what_to_do(desk: Client, presence):
    page = html(desk, "agent_tools", presence.agent.slug)
    assert "None: no tool is offered. Enter one under Settings" in page
    assert "No calls yet. Grant tools under Settings" in page


def test_its_last_calls_lead_to_their_activation(desk: Client, presence):
    waking = wake(presence)
    item = make_item(waking)
    for _ in range(12):
        make_tool_call(item)
    page = html(desk, "agent_tools", presence.agent.slug)
    assert page.count("<code>hub_search</code>") == 10
    assert f'href="/activations/{waking.pk}/"' in page


def test_a_limited_operator_sees_calls_of_their_accounts_only(client: Client):
    agent = make_agent()
    mine, theirs = make_presence(agent=agent), make_presence(agent=agent)
    for presence, tool in ((mine, "mine"), (theirs, "theirs")):
        waking = wake(presence)
        make_tool_call(make_item(waking), tool=f"tool_{tool}")
        waking.note(state="done", outcome="Done.", ended_at=waking.started_at)
    operator = make_operator(role="moderator")
    operator.surfaces.add(mine.account.surface)
    type(operator).objects.filter(pk=operator.pk).update(only_surfaces=True)
    operator.refresh_from_db()
    client.force_login(operator)
    page = html(client, "agent_tools", agent.slug)
    assert "tool_mine" in page
    assert "tool_theirs" not in page
    assert client.get(url("agent_tools", "nobody")).status_code == 404
