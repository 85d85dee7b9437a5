"""What becomes of a call that a clumsy or lying model makes, and that a key of ours never stays."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.sync import async_to_sync

from dialogue.errors import LeaseLost, LimitReached
from dialogue.models import ToolCall
from surfaces.models import AuditEvent
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tools_of_every_risk")]


def test_an_unknown_tool_is_an_error_and_an_audit_event(asking):
    outcome = asking.call("rm_rf\0\ud800" + "x" * 500)
    assert outcome.is_error
    assert "There is no tool rm_rf" in outcome.text
    call = asking.last()
    assert (call.state, len(call.tool)) == ("denied", 80)
    event = AuditEvent.objects.called("tool_call.refused").get()
    assert (event.account_id, event.agent) == (asking.account.pk, asking.agent.slug)


def test_an_ungranted_call_is_refused_by_scope_and_by_resource(asking):
    asking.set(grants=["fs:write:notes", "!fs:write:secret"])
    assert asking.call("look").is_error
    assert asking.call("save", {"text": "x", "community": "secret"}).is_error
    assert asking.call("save", {"text": "x", "community": "other"}).is_error
    assert asking.ran() == []
    assert AuditEvent.objects.called("tool_call.refused").count() == 3
    assert not asking.call("save", {"text": "y", "community": "notes"}).is_error


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "Invalid JSON"),
        ("[]", "should be an object"),
        ("", "text: Field required"),
        ('{"text": 5}', "text: Input should be a valid string"),
        ('{"text": "a", "other": 1}', "other: Extra inputs"),
        ('{"text": "a\\u0000b"}', "NUL"),
        ('{"text": "a\0b"}', "NUL"),
        ('{"text": "a\ud800b"}', "surrogate"),
        ('{"text": "a\\ud800b"}', "hex escape"),
        ('{"text": "' + "x" * 5_000_000 + '"}', "64,000 characters"),
        ('{"text": "a", "tree": ' + "[" * 10_000 + "]" * 10_000 + "}", "recursion"),
        ('{"text": "a", "times": ' + "9" * 5_000 + "}", "out of range"),
    ],
    ids=lambda value: value[:24],
)
def test_arguments_that_cannot_be_used_are_told_plainly(asking, text, told):
    outcome = asking.call("save", text, raw=True)
    assert outcome.is_error
    assert told.lower() in outcome.text.lower()
    assert len(outcome.text) < 2_500
    assert (asking.last().state, asking.ran()) == ("failed", [])
    step = asking.activation.steps.get(kind="called")
    assert len(step.facts["arguments"]) <= 4_000


def test_a_backslash_before_u0000_is_no_nul(asking):
    outcome = asking.call("save", '{"text": "in C: \\\\u0000"}', raw=True)
    assert not outcome.is_error
    assert asking.ran() == ["in C: \\u0000"]


def test_what_json_cannot_say_is_nothing_and_what_is_stored_is_what_runs(asking):
    asking.call("save", '{"text": "a", "tree": [NaN, 1e999, 1]}', raw=True)
    assert asking.last().arguments == {"text": "a", "tree": [None, None, 1]}


def test_two_calls_of_one_id_run_once(asking):
    asking.call("save", "first", call_id="same")
    outcome = asking.call("save", "second", call_id="same")
    assert outcome.is_error
    assert asking.call("save", "first", call_id="same").text == asking.last().result
    assert asking.ran() == ["first"]
    assert ToolCall.objects.count() == 1


def test_calls_beyond_the_limit_end_the_loop_and_make_no_rows(asking):
    asking.set(max_tool_calls=2)
    asking.call("look")
    asking.call("nothing")
    for _ in range(3):
        with pytest.raises(LimitReached):
            asking.call("look")
    assert ToolCall.objects.count() == 2


def test_the_limit_holds_for_parallel_calls(asking):
    asking.set(max_tool_calls=3)

    async def many() -> list[object]:
        calls = [asking.belt.call("save", '{"text": "x"}', call_id=f"{n}") for n in range(10)]
        return await asyncio.gather(*calls, return_exceptions=True)

    done = async_to_sync(many)()
    assert sum(isinstance(each, LimitReached) for each in done) == 7
    assert asking.ran() == ["x", "x", "x"]


def test_the_same_call_is_asked_once_and_not_again_after_a_denial(asking):
    from dialogue.approvals import services

    asking.call("shell", "again")
    outcome = asking.call("shell", "again")
    assert (outcome.is_waiting, "waits for an operator already" in outcome.text) == (False, True)
    first = ToolCall.objects.order_by("pk")[0]
    services.deny(first, words="", by="operator:mira", now=NOON)
    assert "denied the same call before" in asking.call("shell", "again").text
    assert asking.call("shell", "something else").is_waiting


def test_a_late_worker_calls_nothing(asking):
    asking.resume()
    for name in ("look", "save", "nothing"):
        with pytest.raises(LeaseLost):
            asking.call(name)
    assert (ToolCall.objects.count(), asking.ran()) == (0, [])


def test_secrets_stand_in_no_transcript_and_no_result(asking):
    asking.call("remember", "the key is moltbook_test, keep it")
    step = asking.activation.steps.get(kind="called")
    assert "moltbook_test" not in step.facts["arguments"]
    assert "moltbook_test" not in asking.last().result


def test_a_key_of_ours_in_a_call_is_kept_nowhere(asking):
    key = asking.account.credential
    for name, words in (("save", f"see {key}"), ("save", key[::-1]), (f"x{key}", "hello")):
        outcome = asking.call(name, words)
        assert outcome.is_error
        call = asking.last()
        kept = [call.tool, call.result, json.dumps(call.arguments), str(call.why)]
        kept += [json.dumps(step.facts) for step in asking.activation.steps.all()]
        kept += [json.dumps(event.facts) for event in AuditEvent.objects.all()]
        assert not [each for each in kept if key in each]
    assert asking.ran() == []
