"""Many tool calls are decided at once, each only as it was shown."""

from __future__ import annotations

import pytest
from django.test import Client

from dialogue.models import Presence, ToolCall
from tests.dialogue.approvals.desk_calls import HTMX, at, by_stranger, granted, make_call, words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known_tools")]


def stamps(desk: Client, presence: Presence) -> dict[str, str]:
    from dialogue.approvals import listing

    pks = ToolCall.objects.filter(presence=presence).values_list("pk", flat=True)
    return {f"stamp-tool_call-{pk}": row.stamp for pk, row in listing.load(pks).items()}


def keys(*calls: ToolCall) -> list[str]:
    return [f"tool_call-{call.pk}" for call in calls]


def test_many_are_denied_with_the_same_words(desk: Client):
    presence = granted()
    calls = [make_call(presence=presence) for _ in range(3)]
    given = {"x": keys(*calls), "act": "reject", "why": "Stop.", **stamps(desk, presence)}
    assert "3 of 3 done" in words(desk.post("/desk/bulk", given, **HTMX))
    assert set(ToolCall.objects.values_list("state", "said")) == {("denied", "Stop.")}


def test_calls_of_high_risk_are_not_approved_in_bulk(desk: Client):
    presence = granted()
    plain = make_call(presence=presence)
    risky = make_call(presence=presence, sources={"content": [by_stranger()]})
    given = {"x": keys(plain, risky), "act": "approve", **stamps(desk, presence)}
    page = words(desk.post("/desk/bulk", given, **HTMX))
    assert "1 of 2 done" in page
    assert "Calls of high risk are approved one by one" in page
    risky.refresh_from_db()
    assert risky.state == "waiting"


def test_a_call_that_changed_since_it_was_shown_is_not_approved_in_bulk(desk: Client):
    presence = granted()
    call = make_call(presence=presence)
    given = {"x": keys(call), "act": "approve", **stamps(desk, presence)}
    ToolCall.objects.filter(pk=call.pk).update(arguments={"content": "Nobody has read this."})
    assert "It changed after you opened it" in words(desk.post("/desk/bulk", given, **HTMX))
    desk.post("/desk/bulk", {"x": keys(call), "act": "approve"})
    call.refresh_from_db()
    assert call.state == "waiting"


def test_calls_like_one_are_offered_with_it(desk: Client):
    presence = granted()
    call, alike = make_call(presence=presence), make_call(presence=presence)
    unlike = make_call(presence=presence, arguments={"content": "Something else altogether"})
    elsewhere = make_call()
    page = words(desk.get(at(call)))
    assert "1 like this…" in page
    assert f'value="tool_call-{alike.pk}"' in page
    for other in (unlike, elsewhere):
        assert f'name="x" value="tool_call-{other.pk}"' not in page


def test_the_bulk_bar_says_that_agents_read_the_reason(desk):
    make_call()
    assert "agents read it where their tool calls are denied" in words(desk.get("/desk/"))
