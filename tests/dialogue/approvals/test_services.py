"""Operators decide; a worker runs what they decided, once, and only if it still may."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.activations.models import Activation
from dialogue.approvals import services
from dialogue.approvals.preconditions import policy_of
from dialogue.models import AgentSettings, ToolCall
from surfaces.errors import BadInput, NotAllowed, StaleState
from surfaces.models import AuditEvent
from tests.dialogue.approvals.decisions import TEN, approve, outcome_of
from tests.dialogue.approvals.factories import MIRA, TOMAS, CallWorld
from tests.factories import NOON

pytestmark = pytest.mark.django_db


# ── approve ───────────────────────────────────────────────────────────────


def test_an_approved_call_runs_once_and_the_model_is_told(asking):
    call = asking.asked("shell", "once")
    approve(call)
    belt = asking.resume()
    assert belt.decided()[call.call_id].text.endswith("kept once")
    assert belt.decided()[call.call_id].text.endswith("kept once")
    assert asking.resume().decided()[call.call_id].text.endswith("kept once")
    assert asking.ran() == ["once"]
    call.refresh_from_db()
    assert (call.state, call.worker, call.decided_by) == ("done", "another worker", MIRA)
    assert asking.activation.steps.filter(kind="returned").count() == 1


def test_an_approval_is_told_in_the_audit_log_with_account_and_agent(asking):
    call = asking.asked()
    approve(call)
    event = AuditEvent.objects.called("tool_call.approved").get()
    assert (event.actor, event.account_id, event.agent) == (
        MIRA, asking.account.pk, asking.agent.slug
    )  # fmt: skip


def test_nothing_runs_before_the_undo_time_is_over(asking):
    call = asking.asked()
    approve(call, delay=TEN)
    assert outcome_of(asking, call).is_waiting
    assert asking.ran() == []
    asking.now = NOON + TEN
    assert outcome_of(asking, call).text.endswith("kept hello")


def test_an_approval_of_something_else_is_refused(asking):
    call = asking.asked()
    with pytest.raises(StaleState, match="changed since you looked"):
        approve(call, digest="of something else")
    assert ToolCall.objects.get(pk=call.pk).state == "waiting"


def test_what_was_approved_is_what_runs_or_nothing_does(asking):
    call = asking.asked()
    approve(call)
    ToolCall.objects.filter(pk=call.pk).update(arguments={"text": "something else"})
    assert outcome_of(asking, call).is_error
    assert asking.ran() == []
    call.refresh_from_db()
    assert call.state == "stale"


def test_the_second_person_is_told_who_was_first(asking):
    call = asking.asked()
    approve(call, by=TOMAS)
    for second in (
        lambda: approve(call),
        lambda: services.deny(call, words="no", by=MIRA, now=NOON),
    ):
        with pytest.raises(StaleState, match="tomas was first: this call is approved"):
            second()
    assert ToolCall.objects.get(pk=call.pk).decided_by == TOMAS


# ── edited arguments ──────────────────────────────────────────────────────


def test_edited_arguments_run_and_what_was_asked_is_kept(asking):
    call = asking.asked("shell", "as asked")
    shown = call.digest
    approve(call, arguments={"text": "as edited", "times": 1})
    assert call.arguments == {"text": "as edited"}
    assert call.asked_arguments == {"text": "as asked"}
    assert shown != call.digest == call.approved_digest
    assert outcome_of(asking, call).text.endswith("kept as edited")
    event = AuditEvent.objects.called("tool_call.approved").get()
    assert event.facts["before"] == {"text": "as asked"}


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"text": 5}, {"text": "x", "other": 1}, {"text": "a\0b"}, {"text": "\ud800"},
        {"text": object()}, {"text": "x" * 70_000},
    ],
    ids=range(7),
)  # fmt: skip
def test_edited_arguments_out_of_the_schema_are_refused(asking, arguments):
    call = asking.asked()
    with pytest.raises(BadInput, match="not valid"):
        approve(call, arguments=arguments)
    assert ToolCall.objects.get(pk=call.pk).state == "waiting"


def test_edited_arguments_nested_without_end_are_refused(asking):
    call, tree = asking.asked(), []
    for _ in range(10_000):
        tree = [tree]
    with pytest.raises(BadInput, match="not valid"):
        approve(call, arguments={"text": "x", "tree": tree})


def test_edited_arguments_are_granted_like_asked_ones(asking):
    asking.set(grants=["shell:run", "!shell:run:root"])
    call = asking.asked()
    with pytest.raises(NotAllowed, match="no grant"):
        approve(call, arguments={"text": "x", "community": "root"})


# ── deny, undo ────────────────────────────────────────────────────────────


def test_the_model_reads_why_it_was_denied(asking):
    call = asking.asked()
    services.deny(call, words=" Not\0 here. ", by=MIRA, now=NOON)
    outcome = outcome_of(asking, call)
    assert outcome.is_error
    assert outcome.text.endswith("The operator says: Not here.")
    assert asking.ran() == []
    assert AuditEvent.objects.called("tool_call.denied").get().facts["said"] == "Not here."


def test_words_to_a_model_end_somewhere(asking):
    with pytest.raises(BadInput, match="1,000"):
        services.deny(asking.asked(), words="x" * 1_001, by=MIRA, now=NOON)


def test_an_approval_is_undone_with_its_edit_before_anything_runs(asking):
    call = asking.asked("shell", "as asked")
    before = call.digest
    approve(call, delay=TEN, arguments={"text": "as edited"})
    services.undo(call, by=MIRA, now=NOON + TEN / 2)
    assert (call.state, call.arguments, call.digest) == ("waiting", {"text": "as asked"}, before)
    assert (call.decided_by, call.approved_digest, call.not_before) == ("", "", None)
    approve(call)
    assert AuditEvent.objects.called("tool_call.taken_back").count() == 1


def test_an_approval_is_not_undone_once_it_is_due(asking):
    call = asking.asked()
    approve(call, delay=TEN)
    with pytest.raises(StaleState, match="Too late"):
        services.undo(call, by=MIRA, now=NOON + TEN)


def test_a_denial_is_undone_until_the_agent_goes_on(asking):
    call = asking.asked()
    services.deny(call, words="no", by=MIRA, now=NOON)
    services.undo(call, by=MIRA, now=NOON + TEN / 2)
    assert (call.state, call.said, call.result, call.ended_at) == ("waiting", "", "", None)
    services.deny(call, words="no", by=MIRA, now=NOON)
    with pytest.raises(StaleState, match="Too late"):
        services.undo(call, by=MIRA, now=NOON + timedelta(minutes=5))
    asking.resume()
    with pytest.raises(StaleState, match="Too late"):
        services.undo(call, by=MIRA, now=NOON)


def test_what_the_policy_denied_is_not_undone(asking):
    asking.set(approval_mode="skip")
    asking.call("shell")
    asking.suspend()
    with pytest.raises(StaleState):
        services.undo(asking.last(), by=MIRA, now=NOON)


# ── unconfirmed ───────────────────────────────────────────────────────────


def unconfirmed(world):
    call = world.asked("call_out")
    ToolCall.objects.filter(pk=call.pk).update(state="unknown", why="approval.unknown")
    call.refresh_from_db()
    return call


def test_an_unconfirmed_call_is_never_repeated_by_itself(asking):
    call = unconfirmed(asking)
    assert outcome_of(asking, call).is_waiting
    assert asking.ran() == []
    with pytest.raises(StaleState):
        approve(call)


def test_a_person_says_that_it_ran(asking):
    call = unconfirmed(asking)
    services.settle_as_run(call, result="the\0 file moltbook_test is there", by=MIRA, now=NOON)
    outcome = outcome_of(asking, call)
    assert outcome.text == "It ran, as an operator found. the file [key] is there"
    assert (outcome.is_error, call.state, asking.ran()) == (False, "done", [])


def test_a_person_lets_it_run_again(transactional_db):
    world = CallWorld()
    call = unconfirmed(world)
    services.run_again(call, by=MIRA, now=NOON)
    assert outcome_of(world, call).text.endswith("kept hello")
    assert world.ran() == ["hello"]
    with pytest.raises(StaleState):
        services.run_again(call, by=TOMAS, now=NOON)


def test_what_did_not_run_in_an_activation_that_ended_may_be_made_again(asking):
    call = unconfirmed(asking)
    Activation.objects.update(state="abandoned", ended_at=NOON, outcome="activation.worker_died")
    services.run_again(call, by=MIRA, now=NOON)
    assert (call.state, call.decided_by) == ("failed", MIRA)
    assert str(call.why) == "It did not run, as mira found."
    assert asking.ran() == []


def test_settings_are_asked_for_by_risk():
    settings = AgentSettings()
    assert [policy_of(settings, risk) for risk in ("read", "write", "publish", "execute")] == [
        "allow", "allow", "mode", "ask"
    ]  # fmt: skip
    assert policy_of(settings, "unknown") == "deny"
