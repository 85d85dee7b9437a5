"""A call that ran out of time: nobody knows whether it happened, so no worker repeats it."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.test import Client

from dialogue.activations import suspended
from dialogue.activations.models import Activation, ItemState
from dialogue.approvals import rules, services
from dialogue.models import ActivationItem, Conversation, ToolCall
from dialogue.tools.base import ToolContext, ToolResult
from surfaces.models import AuditEvent, DeskItem
from tests.dialogue.approvals.desk_calls import words
from tests.dialogue.approvals.factories import MIRA, CallWorld, Words, keep, tool, tools
from tests.factories import NOON

pytestmark = pytest.mark.django_db(transaction=True)
LATE = {"text": "late", "community": "0.7"}  # seconds; the tool has 0.5
PATIENCE = 10  # seconds


@pytest.fixture
def world() -> CallWorld:
    return CallWorld(on_external="allow")


def wait_until_it_happened(world: CallWorld) -> None:
    until = time.monotonic() + PATIENCE
    while not world.ran() and time.monotonic() < until:
        time.sleep(0.02)
    assert world.ran() == ["late"]


def timed_out(world: CallWorld) -> ToolCall:
    """The call of which nobody saw the end, although it happened."""
    outcome = world.call("call_out", LATE)
    assert (outcome.is_error, outcome.is_waiting) == (True, False)
    call = world.last()
    wait_until_it_happened(world)
    return call


def settle(desk: Client, call: ToolCall, act: str, **given: str) -> str:
    answer = desk.post(f"/desk/tool_unknown/{call.pk}/{act}", given, follow=True)
    call.refresh_from_db()
    return words(answer)


def test_it_is_unconfirmed_and_the_model_is_told_not_to_repeat_it(world):
    outcome = world.call("call_out", LATE)
    call = world.last()
    assert (call.state, call.ended_at, call.why.code) == ("unknown", None, "approval.timed_out")
    assert call.took_ms >= 500
    assert outcome.is_error
    assert outcome.text == call.result
    assert "took longer than 0.5 seconds" in outcome.text
    assert "Do not repeat it." in outcome.text
    step = world.activation.steps.get(kind="returned")
    assert (step.facts["call"], step.facts["state"]) == (call.pk, "unknown")
    wait_until_it_happened(world)
    call.refresh_from_db()
    assert call.state == "unknown", "its end came too late"


def test_it_is_on_the_desk_and_told_once_in_the_audit_log(world, desk):
    call = timed_out(world)
    item = DeskItem.objects.get()
    assert (item.kind, item.item_id, item.expires_at) == ("tool_unknown", call.pk, None)
    page = words(desk.get(f"/desk/tool_unknown/{call.pk}/"))
    assert "Nobody knows whether this ran." in page
    assert "It took longer than 0.5 s and was abandoned." in page
    services.end_overdue(now=NOON)
    world.suspend()
    world.resume().decided()
    event = AuditEvent.objects.called("tool_call.unknown").get()
    assert (event.actor, event.facts["tool"]) == ("colloquy", "call_out")
    assert event.why.code == "approval.timed_out"


@pytest.mark.parametrize("is_ruled", [False, True], ids=["policy", "rule"])
def test_the_same_call_again_is_not_run_without_a_person(world, is_ruled):
    if is_ruled:
        rules.make_rule(
            world.agent, tool="call_out", patterns={"text": "*", "community": "*"}, until=None,
            asks_when_untrusted=False, by=MIRA, now=NOON,
        )  # fmt: skip
    timed_out(world)
    again = world.call("call_out", LATE)
    assert again.is_waiting
    assert again.why.code == "approval.may_have_run"
    assert world.ran() == ["late"]
    assert world.call("call_out", "another").text.endswith("kept another")


def test_where_nobody_is_asked_the_same_call_is_refused(world):
    world.set(approval_mode="policy")
    timed_out(world)
    assert world.call("call_out", LATE).is_error
    assert (world.last().state, world.ran()) == ("denied", ["late"])


def test_a_conversation_with_another_call_that_waits_goes_on(world):
    late = timed_out(world)
    other = world.asked("shell")
    ActivationItem.objects.update(state=ItemState.WAITING)
    assert suspended.ready(now=NOON, limit=5) == []
    services.approve(other, digest=other.digest, by=MIRA, now=NOON)
    assert suspended.ready(now=NOON, limit=5) == [world.activation.pk]
    outcomes = world.resume().decided()
    assert outcomes.keys() == {other.call_id}
    assert outcomes[other.call_id].text.endswith("kept hello")
    assert ToolCall.objects.get(pk=late.pk).state == "unknown"


def test_an_approved_call_that_runs_out_of_time_is_told_and_not_run_again(world):
    world.set(on_external="ask")
    call = world.asked("call_out", LATE)
    services.approve(call, digest=call.digest, by=MIRA, now=NOON)
    first = world.resume().decided()[call.call_id]
    wait_until_it_happened(world)
    again = world.resume("a third worker").decided()[call.call_id]
    for outcome in (first, again):
        assert (outcome.is_error, outcome.is_waiting) == (True, False)
        assert "Do not repeat it." in outcome.text
    assert world.ran() == ["late"]
    assert world.activation.steps.filter(kind="returned").count() == 1
    assert AuditEvent.objects.called("tool_call.unknown").count() == 1


DONE = {"state": "done", "ended_at": NOON, "outcome": "activation.of_items"}


@pytest.mark.parametrize("activation", [{}, DONE], ids=["running", "done"])
def test_a_person_says_that_it_ran(world, desk, activation):
    call = timed_out(world)
    Activation.objects.update(**activation)
    assert "Marked as run." in settle(desk, call, "settle_ran", result="Post 12 is there.")
    assert (call.state, call.decided_by) == ("done", MIRA)
    assert call.result == "It ran, as an operator found. Post 12 is there."
    assert not DeskItem.objects.exists()


@pytest.mark.parametrize("activation", [{}, DONE], ids=["running", "done"])
def test_what_did_not_run_may_be_made_again_because_the_model_went_on_without_it(
    world, desk, activation
):
    call = timed_out(world)
    Activation.objects.update(**activation)
    said = settle(desk, call, "run_again")
    assert "Marked as not run. The agent may make this call again." in said
    assert (call.state, call.decided_by) == ("failed", MIRA)
    assert not DeskItem.objects.exists()
    assert world.ran() == ["late"], "nothing runs by itself"
    if not activation:
        assert world.call("call_out", {**LATE, "community": "0"}).text.endswith("kept late")


def test_it_is_settled_while_its_conversation_waits_for_another_call(world, desk):
    late, other = timed_out(world), world.asked("shell")
    ActivationItem.objects.update(state=ItemState.WAITING)
    Conversation.objects.create(item=world.item, model="m", messages="[]", kept_at=NOON)
    settle(desk, late, "run_again")
    assert late.state == "failed"
    services.deny(other, words="No.", by=MIRA, now=NOON)
    assert suspended.ready(now=NOON, limit=5) == [world.activation.pk]


# ── what had no effect ────────────────────────────────────────────────────


def test_a_call_that_only_reads_has_failed(world):
    outcome = world.call("peek", LATE)
    assert "Do not repeat" not in outcome.text
    assert (world.last().state, world.last().why.code) == ("failed", "approval.failed")
    assert not AuditEvent.objects.called("tool_call.unknown").exists()
    wait_until_it_happened(world)


def test_a_call_that_ran_out_of_time_before_it_began_has_failed(world):
    def dawdle(context: ToolContext, given: Words) -> None:
        time.sleep(0.2)

    careful = tool(
        "careful", keep, "external", "mcp:out", is_slow=True, timeout=0.05, prepare=dawdle
    )
    with tools(careful):
        outcome = world.call("careful")
    assert outcome.is_error
    assert "Do not repeat" not in outcome.text
    assert (world.last().state, world.ran()) == ("failed", [])


def test_a_quick_call_that_waited_in_vain_is_undone_and_has_failed(world):
    def give_up(context: ToolContext, given: Words) -> ToolResult:
        keep(context, given)
        raise TimeoutError

    world.set(on_execute="allow")
    with tools(tool("quick", give_up, "execute", "shell:run")):
        outcome = world.call("quick")
    assert "Do not repeat" not in outcome.text
    assert (world.last().state, world.ran()) == ("failed", [])


def test_run_again_of_a_call_that_was_never_told_begins_at_once():
    world = CallWorld()
    call = world.asked("call_out")
    ToolCall.objects.filter(pk=call.pk).update(state="unknown", why="approval.unknown")
    services.run_again(call, by=MIRA, now=NOON + timedelta(minutes=1))
    assert (call.state, call.not_before) == ("approved", call.decided_at)
