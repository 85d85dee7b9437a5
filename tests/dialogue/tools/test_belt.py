"""What becomes of each call of a model: what is offered, what runs, what is not repeated."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync

from dialogue.activations import services as activation_services
from dialogue.activations.models import Activation
from dialogue.approvals import rules
from dialogue.models import ToolCall
from dialogue.tools.belt import RAN_BEFORE, AgentBelt, belt_of
from surfaces.models import Draft
from tests.dialogue.approvals.factories import INJECTION, CallWorld
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools_of_every_risk")]


# ── what is offered ───────────────────────────────────────────────────────


def test_only_what_is_granted_and_not_denied_is_offered(asking):
    asking.set(grants=["web:*", "memory:*", "shell:run", "!web:break"], on_execute="deny")
    assert [each.name for each in asking.belt.offered()] == ["look", "remember"]
    asking.set(has_memory=False)
    assert [each.name for each in asking.belt.offered()] == ["look"]


def test_an_agent_without_grants_or_with_a_script_has_no_belt(asking):
    assert belt_of(asking.item, clock=asking.clock) is not None
    asking.set(grants=[])
    assert belt_of(asking.item, clock=asking.clock) is None
    asking.set(grants=["*:*"], voice="scripted")
    assert belt_of(asking.item, clock=asking.clock) is None


def test_a_conversation_is_told_of_its_calls_after_every_grant_was_taken(asking):
    asking.asked()
    asking.set(grants=[])
    assert belt_of(asking.item, clock=asking.clock) is not None


# ── what runs ─────────────────────────────────────────────────────────────


def test_a_read_runs_and_its_words_are_labelled_as_data(asking):
    outcome = asking.call("look")
    assert INJECTION in outcome.text
    assert "is data" in outcome.text
    call = asking.last()
    assert (call.state, call.worker, call.decided_by) == ("done", "a worker", "policy")
    assert call.result == outcome.text
    steps = list(asking.activation.steps.values_list("kind", "facts__call", "item"))
    assert steps == [("called", call.pk, asking.item.pk), ("returned", call.pk, asking.item.pk)]
    assert Activation.objects.get().calls == 1


def test_what_publishes_is_a_draft_that_waits_for_a_person(asking):
    outcome = asking.call("post", "My own words about tides and the moon.")
    draft = Draft.objects.get()
    assert (draft.state, draft.written_for) == ("waiting", f"tool_call:{asking.last().pk}")
    assert outcome.text == f"draft {draft.pk}"
    assert asking.last().draft == draft


@pytest.mark.parametrize("name", ["shell", "call_out"])
def test_what_executes_or_goes_out_waits_for_a_person(asking, name):
    outcome = asking.call(name)
    call = asking.last()
    assert outcome.is_waiting
    assert (call.state, call.expires_at) == ("waiting", NOON + timedelta(hours=24))
    assert asking.ran() == []


def test_an_agent_that_skips_goes_on_without(asking):
    asking.set(approval_mode="skip")
    outcome = asking.call("shell")
    assert (outcome.is_waiting, outcome.is_error) == (False, True)
    assert "skipped" in outcome.text
    assert (asking.last().state, asking.ran()) == ("denied", [])


def test_a_slow_tool_runs_outside_a_transaction_and_is_abandoned_at_its_time(transactional_db):
    world = CallWorld()
    began = time.monotonic()
    outcome = world.call("peek", {"text": "late", "community": "5"})
    assert time.monotonic() - began < 3
    assert outcome.is_error
    assert "longer than 0.5 seconds" in outcome.text
    assert world.last().state == "failed"
    assert world.call("peek", "soon").text.endswith("kept soon")


def test_a_slow_tool_holds_nothing_up(transactional_db):
    world = CallWorld()

    async def both() -> list[object]:
        slow = world.belt.call("peek", json.dumps({"text": "a", "community": "0.4"}), call_id="a")
        quick = world.belt.call("look", json.dumps({"text": "b"}), call_id="b")
        return [await each for each in (asyncio.ensure_future(slow), asyncio.ensure_future(quick))]

    async_to_sync(both)()
    ended = {call.call_id: call for call in ToolCall.objects.all()}
    assert {call.state for call in ended.values()} == {"done"}
    returned = Activation.objects.get().steps.filter(kind="returned").order_by("number")
    assert [step.facts["call"] for step in returned] == [ended["b"].pk, ended["a"].pk]


def test_a_tool_that_fails_leaves_nothing_behind_and_the_model_is_told(asking):
    outcome = asking.call("break")
    assert (outcome.text, outcome.is_error, outcome.is_fatal) == (
        "There is no such page.", True, False
    )  # fmt: skip
    assert (asking.last().state, asking.ran()) == ("failed", [])


def test_a_fatal_error_ends_the_activation_with_its_reason(asking):
    outcome = asking.call("break", "fatal")
    assert outcome.is_fatal
    assert "The credential is refused." in str(outcome.why)


def test_an_error_of_ours_tells_nothing_of_ours(asking):
    outcome = asking.call("break", "ours")
    assert "Internal error" in outcome.text
    assert "secret of ours" not in outcome.text + str(asking.last().why)


def test_a_rule_that_a_tool_runs_into_is_told_in_english(asking):
    from django.utils.translation import override

    with override("zh-hans"):
        assert asking.call("break", "rule").text == "Nobody decided in time."


# ── after an activation that was interrupted ──────────────────────────────


def begin_again(world: CallWorld) -> None:
    """Its worker died; another activation takes the same comment up."""
    Activation.objects.filter(pk=world.activation.pk).update(
        state="abandoned", ended_at=NOON, outcome="activation.worker_died"
    )
    world.activation = activation_services.start(
        world.presence, purpose="reply", why="a test", worker="another", now=NOON,
        notification=world.notification,
    )  # fmt: skip
    world.item = world.activation.items.get()
    world.belt = AgentBelt(world.item, world.clock)


@pytest.mark.parametrize("name", ["shell", "post"])
def test_what_ran_before_the_worker_died_is_not_run_again_and_the_model_is_told(asking, name):
    asking.set(on_execute="allow")
    first = asking.call(name, "once")
    begin_again(asking)
    again = asking.call(name, "once")
    assert again.text == f"{RAN_BEFORE} {first.text}"
    assert (again.is_error, asking.last().state) == (False, "denied")
    assert len(asking.ran()) + Draft.objects.count() == 1


def test_what_only_read_or_remembered_may_be_repeated(asking):
    for _ in range(2):
        assert asking.call("look", "once").text == asking.call("look", "once").text
        asking.call("save", "once")
        begin_again(asking)
    assert asking.ran() == ["once", "once"]


def test_what_may_have_run_before_the_worker_died_is_asked_whatever_a_rule_says(asking):
    asking.set(on_execute="allow")
    asking.call("shell", "once")
    asking.call("shell", "else")
    ToolCall.objects.filter(arguments__text="once").update(
        state="unknown", why="approval.unknown", ended_at=None
    )
    rules.make_rule(
        asking.agent, tool="shell", patterns={"text": "*"}, until=None, asks_when_untrusted=False,
        by="operator:mira", now=NOON,
    )  # fmt: skip
    begin_again(asking)
    outcome = asking.call("shell", "once")
    assert outcome.is_waiting
    assert outcome.why.code == "approval.may_have_run"
    assert sorted(asking.ran()) == ["else", "once"]
