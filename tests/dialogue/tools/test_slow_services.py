"""A service that is slow, lies or suspends us while a tool asks it: the model is told what is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest
from django.db import OperationalError

from dialogue.activations import items
from dialogue.activations.models import ItemState
from dialogue.tools import lookup
from dialogue.tools.base import ToolError
from dialogue.tools.registry import TOOLS
from surfaces.errors import Refused, Unconfirmed
from surfaces.models import Account, AuditEvent, Draft
from surfaces.text.reasons import reason
from tests.dialogue.approvals.factories import CallWorld, keep, tool, tools
from tests.dialogue.tools.factories import Bench
from tests.factories import make_account, make_surface
from tests.fakes.moltbook import FakeMoltbook

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def moltbook():
    with FakeMoltbook() as fake:
        yield fake


def at(fake: FakeMoltbook) -> Account:
    surface = make_surface(kind="moltbook", base_url=fake.url, dialect="open")
    return make_account(surface=surface, token=fake.add_agent("iris"), handle="iris")


def world_at(fake: FakeMoltbook) -> CallWorld:
    world = CallWorld()
    account = at(fake)
    world.presence.account = account
    world.presence.save()
    return world


def test_a_post_whose_target_was_read_too_slowly_was_not_written(moltbook, monkeypatch):
    moltbook.add_agent("bob")
    post = moltbook.add_post("bob", text="Is a tide table a promise?")
    world = world_at(moltbook)
    monkeypatch.setitem(TOOLS, "hub_post", replace(TOOLS["hub_post"], timeout=0.3))
    moltbook.fault("hang-before", match="GET ", times=9, seconds=1)
    given = {"content": "Whose promise is it?", "reply_to": f"item:{post}"}
    told = world.call("hub_post", given)
    assert told.is_error
    assert told.text.endswith("was abandoned. Nothing was done.")
    assert (world.last().state, world.last().why.code) == ("failed", "approval.failed")
    assert not Draft.objects.exists()
    assert not AuditEvent.objects.filter(action="tool_call.unknown").exists()


@pytest.mark.parametrize(
    "error",
    [Unconfirmed("service.answer_too_slow"), OperationalError("gone"), ZeroDivisionError("ours")],
    ids=["lost answer", "lost database", "ours"],
)
def test_a_slow_tool_whose_answer_was_lost_is_left_to_a_person(error):
    def act(context: Any, given: Any) -> Any:
        keep(context, given)
        raise error

    with tools(tool("act", act, "external", "mcp:act", is_slow=True)):
        world = CallWorld(on_external="allow")
        told = world.call("act", "wire it")
        call = world.last()
        assert (call.state, call.why.code) == ("unknown", "approval.answer_lost")
        assert told.text.endswith("Do not repeat it.")
        assert world.call("act", "wire it").is_waiting, "a person is asked before it is repeated"
        assert world.ran() == ["wire it"]


@pytest.mark.parametrize("error", [ToolError("No such page."), Refused("service.redirect")])
def test_a_slow_tool_that_says_it_failed_did_fail(error):
    def act(context: Any, given: Any) -> Any:
        raise error

    with tools(tool("act", act, "external", "mcp:act", is_slow=True)):
        world = CallWorld(on_external="allow")
        assert world.call("act").is_error
        assert world.last().state == "failed"


def test_a_slow_tool_that_only_reads_may_be_asked_again_when_its_answer_was_lost():
    def look(context: Any, given: Any) -> Any:
        raise Unconfirmed("service.answer_too_slow")

    with tools(tool("look_up", look, "read", "web:look", is_slow=True)):
        world = CallWorld()
        assert world.call("look_up").is_error
        assert world.last().state == "failed"


def test_what_a_quick_tool_wrote_before_it_was_too_slow_is_undone_and_not_in_doubt():
    def late(context: Any, given: Any) -> Any:
        keep(context, given)
        raise TimeoutError

    with tools(tool("late", late, "write", "fs:late")):
        world = CallWorld()
        told = world.call("late", "low water")
        assert (world.last().state, world.ran()) == ("failed", [])
        assert told.text.endswith("Nothing was done.")


@pytest.mark.parametrize("fault", ["suspended-403", "402"])
@pytest.mark.parametrize("name", ["hub_search", "hub_get_thread"])
def test_a_suspension_that_a_tool_hears_of_stops_the_account(moltbook, fault, name):
    moltbook.add_agent("bob")
    post = moltbook.add_post("bob", text="Is a tide table a promise?")
    bench = Bench(at(moltbook))
    moltbook.fault(fault, times=9)
    given = {"query": "tide"} if name == "hub_search" else {"post_id": f"item:{post}"}
    if name == "hub_search":
        assert "do nothing for now" in bench.call(name, **given).text
    else:
        with pytest.raises(ToolError, match="do nothing for now"):
            bench.call(name, **given)
    bench.account.refresh_from_db()
    assert bench.account.state == "suspended"
    assert AuditEvent.objects.filter(action="account.suspended").count() == 1


def test_a_call_that_its_agent_ended_without_says_so():
    with tools():
        world = CallWorld()
        call = world.asked()
        belt = world.resume()
        why = reason("activation.wrote_draft", pk="5")
        items.end(belt.activation, belt.item, ItemState.DRAFTED, why, now=world.now)
        call.refresh_from_db()
        assert (call.state, call.why.code) == ("stale", "approval.not_needed")


def test_a_service_that_finds_one_id_twice_shows_it_once(monkeypatch):
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"results": [found("tide, first"), found("tide, second")]})

    def found(words: str) -> dict[str, Any]:
        author = {"id": "b-1", "name": "bob"}
        at = "2026-05-01T00:00:00Z"
        return {"id": "p-1", "title": "Tides", "content": words, "author": author, "created_at": at}

    surface = make_surface(kind="hub", base_url="http://hub.test/api/v1")
    bench = Bench(make_account(surface=surface, token="a-key-of-ours", handle="iris"))
    wire = partial(lookup.open_reader, transport=httpx.MockTransport(answer))
    monkeypatch.setattr(lookup, "open_reader", wire)
    told = bench.call("hub_search", query="tide").text
    assert "tide, first" in told
    assert "tide, second" not in told


def test_a_post_may_read_its_target_as_long_as_a_thread_may_be_read():
    assert TOOLS["hub_post"].timeout == TOOLS["hub_get_thread"].timeout
