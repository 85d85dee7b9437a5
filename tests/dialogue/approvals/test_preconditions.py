"""A call runs only if it still may: what changed since it was asked or approved keeps it away."""

from __future__ import annotations

import pytest

from dialogue.approvals.arguments import digest_of
from dialogue.models import Agent, ToolCall
from surfaces.errors import StaleState
from surfaces.models import AuditEvent, Draft
from tests.dialogue.approvals.changes import LASTING, PASSING
from tests.dialogue.approvals.decisions import approve, outcome_of
from tests.dialogue.approvals.factories import INJECTION, CallWorld

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("change", LASTING)
def test_what_changed_for_good_makes_it_stale_at_the_moment_of_approval(asking, change):
    call = asking.asked()
    change(asking)
    with pytest.raises(StaleState):
        approve(call)
    call = ToolCall.objects.get(pk=call.pk)
    assert (call.state, bool(call.why), call.result.startswith("Nothing was done.")) == (
        "stale", True, True
    )  # fmt: skip
    assert AuditEvent.objects.called("tool_call.went_stale").exists()


@pytest.mark.parametrize("change", LASTING)
def test_what_changed_after_the_approval_keeps_it_from_running(asking, change):
    call = asking.asked()
    approve(call)
    change(asking)
    outcome = outcome_of(asking, call)
    call.refresh_from_db()
    assert (outcome.is_error, call.state, asking.ran()) == (True, "stale", [])
    assert str(call.why) in outcome.text


@pytest.mark.parametrize("change", PASSING)
def test_what_passes_lets_an_approved_call_wait_and_the_row_says_so(asking, change):
    call = asking.asked()
    change(asking)
    approve(call)
    assert call.state == "approved"
    assert str(call.why).startswith("Approved. It does not run yet: ")
    assert outcome_of(asking, call).is_waiting
    assert asking.ran() == []


@pytest.mark.parametrize("change", PASSING)
def test_what_passes_keeps_a_call_waiting_that_a_worker_has_in_hand(asking, change):
    call = asking.asked()
    approve(call)
    change(asking)
    assert outcome_of(asking, call).is_waiting
    call.refresh_from_db()
    assert (call.state, call.why.code, asking.ran()) == (
        "approved", "approval.approved_waits", []
    )  # fmt: skip


def test_a_row_that_was_changed_past_the_door_does_not_run(asking):
    call = asking.asked()
    approve(call)
    other = {"text": "something else"}
    ToolCall.objects.filter(pk=call.pk).update(
        arguments=other, digest=digest_of(call, arguments=other)
    )
    assert outcome_of(asking, call).is_error
    assert asking.ran() == []


def test_an_approval_in_the_moment_of_expiry_is_too_late(asking):
    call = asking.asked()
    with pytest.raises(StaleState, match="Nobody decided in time"):
        approve(call, now=call.expires_at)
    assert ToolCall.objects.get(pk=call.pk).state == "expired"
    assert asking.ran() == []


def test_a_deleted_agent_takes_its_calls_along(asking):
    call = asking.asked()
    Agent.objects.filter(pk=asking.agent.pk).delete()
    with pytest.raises(ToolCall.DoesNotExist):
        approve(call)


def test_an_approved_draft_of_a_stranger_s_words_goes_out_by_the_mode(db):
    world = CallWorld(mode="auto")
    call = world.asked("post", INJECTION)
    approve(call)
    outcome_of(world, call)
    assert Draft.objects.get().state == "approved"
