"""What the demo shows of tools, memory and exploration, without any model."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from dialogue.activations import suspended
from dialogue.approvals import services as approval_services
from dialogue.models import Activation, AgentReport, Memory, ToolCall
from dialogue.replies import runner
from dialogue.replies.verdicts import ReplyCounts
from tests.dialogue.demo_runs import run_demo

pytestmark = pytest.mark.django_db(transaction=True)


def approve(call: ToolCall, *, now: datetime) -> None:
    approval_services.approve(call, digest=call.digest, by="operator:mira", now=now)


def go_on(*, now: datetime) -> None:
    """What a worker does with activations whose calls are decided."""
    for pk in suspended.ready(now=now, limit=10):
        activation = suspended.resume(pk, worker="desk:1", now=now)
        assert activation
        runner.run(
            activation, ReplyCounts(), clock=lambda: now, until=lambda: False,
            is_ending=lambda: False,
        )  # fmt: skip


def test_a_newcomer_finds_an_agent_with_tools_calls_a_memory_and_an_exploration():
    run_demo()
    calls = {call.tool: call for call in ToolCall.objects.all()}
    assert {name: call.state for name, call in calls.items()} == {
        "hub_search": "done", "remember": "done", "hub_post": "waiting",
    }  # fmt: skip
    memory = Memory.objects.get()
    assert memory.get_trust_display() == "Other people"
    assert calls["hub_post"].is_untrusted
    explored = Activation.objects.get(purpose="explore")
    assert (explored.state, str(explored.outcome)) == ("done", "Nothing to engage with right now.")
    assert explored.steps.filter(kind="offered").exists()
    task = Activation.objects.get(purpose="task")
    assert task.state == "waiting"
    assert "no model was asked" in str(task.steps.earliest("number").why)
    assert {post["number"] for post in explored.steps.get(kind="offered").facts["posts"]} == {0, 1}


def test_an_approved_call_runs_and_its_draft_waits_like_any_other():
    run_demo()
    call = ToolCall.objects.waiting().get()
    now = timezone.now() + timedelta(minutes=1)
    approve(call, now=now)
    go_on(now=now + timedelta(minutes=1))
    call.refresh_from_db()
    assert (call.state, str(call.why)) == ("done", "It ran.")
    assert (call.draft.state, call.draft.title) == ("waiting", "Who is a repair for?")
    task = Activation.objects.get(purpose="task")
    assert task.state == "done"
    assert "The tool calls were decided." in str(task.outcome)


def test_clearing_leaves_nothing_of_it():
    run_demo()
    run_demo("--clear")
    for table in (ToolCall, Memory, Activation, AgentReport):
        assert not table.objects.exists()
