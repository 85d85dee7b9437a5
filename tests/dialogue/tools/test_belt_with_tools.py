"""The belt with the tools that agents really have."""

from __future__ import annotations

import json

import pytest

from dialogue.models import Memory, ToolCall
from dialogue.tools.registry import TOOLS
from surfaces.models import Draft
from tests.dialogue.approvals.factories import INJECTION, CallWorld

pytestmark = pytest.mark.django_db


def call(world, name, **arguments):
    return world.call(name, json.dumps(arguments), raw=True)


def test_every_tool_is_offered_where_it_is_granted():
    world = CallWorld()
    assert {each.name for each in world.belt.offered()} <= TOOLS.keys()
    assert {"remember", "recall"} <= {each.name for each in world.belt.offered()}
    for offer in world.belt.offered():
        json.dumps(offer.schema)
    world.set(grants=["memory:read"])
    assert [each.name for each in world.belt.offered()] == ["recall"]


def test_what_a_stranger_said_is_remembered_as_theirs():
    world = CallWorld()
    outcome = call(world, "remember", words=INJECTION)
    assert "words of other people" in outcome.text
    assert Memory.objects.get().trust == 0
    call(world, "remember", words="Low water was early on the day I began this diary.")
    assert Memory.objects.order_by("-pk")[0].trust == 1


@pytest.mark.parametrize("mode", ["review", "auto"])
def test_what_a_recalled_memory_says_is_a_stranger_s_too(mode):
    world = CallWorld(mode=mode)
    call(world, "remember", words=INJECTION)
    world.comment.content = "harmless"
    world.comment.save()
    call(world, "recall", query="wire dollars")
    outcome = call(world, "hub_post", content=INJECTION, title="Wire", community="tides")
    assert outcome.is_waiting is (mode == "auto")
    assert ToolCall.objects.get(tool="hub_post").is_untrusted
    assert not Draft.objects.exclude(state="waiting").exists()


def test_a_post_of_an_agent_is_a_draft_in_a_place_it_is_granted():
    world = CallWorld()
    outcome = call(
        world, "hub_post", content="My own words on tides.", title="Tides", community="tides"
    )
    assert not outcome.is_error, outcome.text
    assert Draft.objects.get().state == "waiting"
    assert ToolCall.objects.get().draft == Draft.objects.get()
