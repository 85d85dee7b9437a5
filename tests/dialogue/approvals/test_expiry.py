"""What ends calls that nobody decided in time, that cannot run any more, or were left behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogue.activations.models import Activation
from dialogue.approvals import expiry, services
from dialogue.models import ToolCall
from dialogue.tasks import prune
from surfaces.models import AuditEvent, Message
from tests.dialogue.approvals.changes import LASTING, PASSING
from tests.dialogue.approvals.decisions import approve
from tests.dialogue.approvals.factories import MIRA, CallWorld
from tests.factories import NOON

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
FOUND_LATER = {"grant_taken", "grant_denied_for_it", "policy_denies", "notification_gone"}


def end(now=NOON):
    return services.end_overdue(now=now)


def test_a_call_expires_when_its_time_is_over_and_not_before(asking):
    call = asking.asked()
    assert end(NOON + DAY - timedelta(seconds=1)) == 0
    assert end(NOON + DAY) == 1
    call.refresh_from_db()
    assert (call.state, call.ended_at, call.result) == (
        "expired", NOON + DAY, "Nothing was done. Nobody decided in time."
    )  # fmt: skip
    assert AuditEvent.objects.called("tool_call.expired").get().account_id == asking.account.pk
    assert end(NOON + DAY) == 0
    assert asking.resume().decided()[call.call_id].is_error
    assert asking.ran() == []


def test_an_agent_says_how_long_its_calls_wait(asking):
    asking.set(approval_hours=1)
    asking.asked()
    assert end(NOON + timedelta(hours=1)) == 1


@pytest.mark.parametrize("change", [each for each in LASTING if each.__name__ not in FOUND_LATER])
@pytest.mark.parametrize("is_approved", [False, True])
def test_what_can_no_longer_run_goes_stale(asking, change, is_approved):
    call = asking.asked()
    if is_approved:
        approve(call)
    change(asking)
    if change.__name__ == "comment_edited":
        Message.objects.filter(pk=asking.comment.pk).update(edited_at=NOON + DAY / 24)
    assert end() == 1
    call.refresh_from_db()
    assert call.state == "stale"
    assert end() == 0


def test_calls_of_an_activation_that_ended_go_stale(asking):
    call = asking.asked()
    Activation.objects.update(state="released", ended_at=NOON, outcome="activation.moved")
    assert end() == 1
    call.refresh_from_db()
    assert (call.state, call.why.code) == ("stale", "approval.activation_ended")


@pytest.mark.parametrize("change", PASSING)
def test_an_approved_call_says_what_it_waits_for_until_it_expires(asking, change):
    call = asking.asked()
    approve(call)
    change(asking)
    assert end() == 1
    assert end() == 0
    call.refresh_from_db()
    assert (call.state, call.why.code) == ("approved", "approval.approved_waits")
    assert end(NOON + DAY) == 1
    call.refresh_from_db()
    assert (call.state, call.why.code) == ("expired", "approval.expired_approved")


def test_an_approved_call_has_a_day_to_run_whenever_it_was_approved(asking):
    call = asking.asked()
    just_before = NOON + DAY - timedelta(seconds=1)
    approve(call, now=just_before, delay=timedelta(seconds=10))
    assert end(NOON + DAY) == 0
    assert ToolCall.objects.get(pk=call.pk).state == "approved"


def test_what_a_dead_worker_proposed_never_ran(asking):
    asking.asked()
    ToolCall.objects.update(state="proposed")
    assert end() == 1
    call = asking.last()
    assert (call.state, call.why.code) == ("failed", "approval.not_begun")


@pytest.mark.parametrize(("name", "state"), [("shell", "unknown"), ("look", "failed")])
def test_what_ran_when_its_worker_stopped_is_unknown_unless_it_only_reads(asking, name, state):
    asking.set(on_read="ask")
    asking.asked(name)
    ToolCall.objects.update(state="running", worker="w", started_at=NOON)
    assert end() == 1
    assert asking.last().state == state
    assert end() == 0


def test_what_runs_in_a_live_worker_is_left_alone(asking):
    asking.call("shell")
    ToolCall.objects.update(state="running", worker="w", started_at=NOON)
    assert end() == 0


def test_a_decision_in_the_same_moment_wins(asking, monkeypatch):
    call = asking.asked()
    before = expiry.read_call

    def decided_first(pk):
        monkeypatch.setattr(expiry, "read_call", before)
        ToolCall.objects.filter(pk=pk).update(state="denied", decided_by=MIRA, ended_at=NOON)
        return before(pk)

    monkeypatch.setattr(expiry, "read_call", decided_first)
    assert end(NOON + DAY) == 0
    assert ToolCall.objects.get(pk=call.pk).state == "denied"


def test_looking_at_many_waiting_calls_costs_few_queries(django_assert_max_num_queries):
    for _ in range(5):
        CallWorld().asked()
    with django_assert_max_num_queries(6):
        assert end() == 0


def test_what_a_conversation_showed_is_forgotten_after_a_month(asking):
    asking.call("look")
    assert asking.last().shown
    prune()
    assert asking.last().shown
    ToolCall.objects.update(ended_at=NOON - 60 * DAY)
    prune()
    assert asking.last().shown == []
