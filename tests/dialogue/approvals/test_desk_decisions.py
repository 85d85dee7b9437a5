"""An operator decides on a tool call: approve, edit, deny, say what became of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.models import ToolCall
from surfaces.models import AuditEvent
from tests.dialogue.approvals.desk_calls import HTMX, at, item_of, make_call, make_unknown, words
from tests.factories import make_operator

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known_tools")]


# ── decisions ─────────────────────────────────────────────────────────────


def test_an_approval_is_of_exactly_what_was_shown(desk: Client):
    call = make_call()
    desk.post(at(call, "approve"), {"digest": "another"})
    call.refresh_from_db()
    assert call.state == "waiting"
    answer = desk.post(at(call, "approve"), {"digest": call.digest}, follow=True)
    call.refresh_from_db()
    assert (call.state, call.decided_by, call.approved_digest) == (
        "approved", "operator:mira", call.digest
    )  # fmt: skip
    assert "Approved hub_post for" in words(answer)
    assert "It runs in 10 s." in words(answer)


def test_an_approval_is_undone_before_anything_runs(desk: Client):
    call = make_call()
    desk.post(at(call, "approve"), {"digest": call.digest})
    desk.post("/desk/undo", {"what": f"tool_call-{call.pk}:approve"})
    call.refresh_from_db()
    assert (call.state, call.decided_by) == ("waiting", "")
    assert item_of(call) is not None


def test_every_kind_of_argument_is_edited_with_a_control_of_its_own(desk: Client):
    call = make_call(tool="launch", risk="execute", arguments={"where": "bay", "depth": 2})
    page = words(desk.get(at(call)))
    for control in ('<select name="arg-where"', 'type="number" name="arg-depth"',
                    'type="checkbox" name="arg-is_quiet"', 'name="arg-tags"'):  # fmt: skip
        assert control in page
    given = {"edits": "1", "digest": call.digest, "arg-where": "reef", "arg-depth": "21",
             "arg-share": "0.25", "arg-is_quiet": "on", "arg-tags": "[1]"}  # fmt: skip
    answer = words(desk.post(at(call, "edit"), given))
    assert "marked below (1)" in answer
    assert 'id="error-depth"' in answer
    answer = words(desk.post(at(call, "edit"), given | {"arg-depth": "9"}))
    assert 'id="error-tags"' in answer
    desk.post(at(call, "edit"), given | {"arg-depth": "9", "arg-tags": '["neap"]'})
    call.refresh_from_db()
    # What is as the schema has it anyway is not named.
    assert call.arguments == {"depth": 9, "share": 0.25, "is_quiet": True, "tags": ["neap"]}


def test_a_denial_needs_words_for_the_agent(desk: Client):
    call = make_call()
    answer = desk.post(at(call, "reject"))
    assert answer.status_code == 422
    assert "Say why" in words(answer)
    desk.post(at(call, "reject"), {"why": "Ask the harbour first."})
    call.refresh_from_db()
    assert (call.state, call.said) == ("denied", "Ask the harbour first.")


def test_the_second_operator_is_told_what_was_decided_and_by_whom(client: Client, desk: Client):
    call = make_call()
    desk.post(at(call, "approve"), {"digest": call.digest})
    other = Client()
    other.force_login(make_operator(username="jonas"))
    answer = other.post(at(call, "reject"), {"why": "No."}, **HTMX)
    assert answer.status_code == 409
    assert "Mira Kovač decided this" in words(answer)
    call.refresh_from_db()
    assert call.state == "approved"


def test_edited_arguments_are_checked_by_the_schema_and_approved(desk: Client):
    call = make_call(arguments={"content": "High water", "reply_to": "3"})
    long = {"arg-content": "", "arg-title": "x" * 301}
    given = {"edits": "1", "digest": call.digest, "arg-reply_to": "3", **long}
    answer = desk.post(at(call, "edit"), given)
    assert answer.status_code == 422
    assert "correct the arguments that are marked below (2)" in words(answer)
    assert 'id="error-title"' in words(answer)
    given |= {"arg-content": "Low\r\nwater", "arg-title": "", "arg-community": "tides"}
    desk.post(at(call, "edit"), given)
    call.refresh_from_db()
    assert call.state == "approved"
    assert call.arguments == {"content": "Low\nwater", "reply_to": "3", "community": "tides"}
    assert call.asked_arguments == {"content": "High water", "reply_to": "3"}
    assert "Before the edit" in words(desk.get(at(call)))


def test_a_tool_that_no_longer_exists_can_be_denied_and_not_edited(desk: Client):
    call = make_call(tool="gone_tool")
    assert "Edit…" not in words(desk.get(at(call)))
    assert desk.post(at(call, "edit"), {"edits": "1", "digest": call.digest}).status_code == 422
    desk.post(at(call, "reject"), {"why": "It is gone."})
    call.refresh_from_db()
    assert call.state == "denied"


def test_who_may_only_read_sees_the_call_and_cannot_decide(client: Client):
    call = make_call()
    client.force_login(make_operator(role="viewer"))
    assert "You have read-only access" in words(client.get(at(call)))
    assert client.post(at(call, "approve"), {"digest": call.digest}).status_code == 403
    call.refresh_from_db()
    assert call.state == "waiting"


def test_calls_outside_of_an_operators_limits_are_not_there(client: Client):
    mine, other = make_call(), make_call()
    operator = make_operator(agents=[mine.agent.slug])
    client.force_login(operator)
    assert client.get(at(mine)).status_code == 200
    assert client.get(at(other)).status_code == 404
    assert client.post(at(other, "approve"), {"digest": other.digest}).status_code == 404


def test_what_ends_in_the_moment_it_is_approved_leaves_the_desk(desk):
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = desk.post(at(call, "approve"), {"digest": call.digest})
    assert answer.status_code == 409
    assert "Nobody decided in time." in words(answer)
    call.refresh_from_db()
    assert (call.state, item_of(call)) == ("expired", None)
    assert AuditEvent.objects.called("tool_call.expired").about(call).count() == 1


# ── unconfirmed ───────────────────────────────────────────────────────────


def test_it_ran_with_its_result(desk: Client):
    call = make_unknown(make_call())
    assert "Nobody knows whether this ran." in words(desk.get(at(call, kind="tool_unknown")))
    desk.post(at(call, "settle_ran", "tool_unknown"), {"result": "Post 12 is there."})
    call.refresh_from_db()
    assert call.state == "done"
    assert "Post 12 is there." in call.result
    event = AuditEvent.objects.called("tool_call.settled").about(call).get()
    assert str(event.why).startswith("It ran, as ")


def test_it_did_not_run_and_is_run_again_at_once_without_undo(desk: Client):
    call = make_unknown(make_call())
    answer = desk.post(at(call, "run_again", "tool_unknown"), follow=True)
    call.refresh_from_db()
    assert (call.state, call.decided_by) == ("approved", "operator:mira")
    assert call.not_before is not None
    assert call.not_before == call.decided_at
    toast = words(answer).partition('class="toast"')[2].partition("</div>")[0]
    assert "It runs as soon as a worker is free." in toast
    assert "Undo" not in toast
    desk.post("/desk/undo", {"what": f"tool_unknown-{call.pk}:run_again"})
    call.refresh_from_db()
    assert call.state == "approved"
