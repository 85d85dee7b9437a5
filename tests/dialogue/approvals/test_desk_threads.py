"""A thread tells of the tool calls that agents made for its messages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from dialogue.models import ToolCall
from tests.dialogue.approvals.desk_calls import make_call, make_unknown
from tests.factories import NOON, make_message, make_operator, make_presence

pytestmark = pytest.mark.django_db


@pytest.fixture
def mira(client: Client) -> Client:
    client.force_login(make_operator(username="mira"))
    return client


def thread(client: Client, call: ToolCall, query: str = "") -> str:
    answer = client.get(f"/threads/{call.thread_id}/{query}")
    return " ".join(answer.content.decode().split())


def life(client: Client, call: ToolCall) -> str:
    notification = call.item.notification
    assert notification is not None
    return thread(client, call, f"?message={notification.message_id}")


def test_the_margin_tells_of_a_waiting_call_with_a_link(mira: Client):
    call = make_call()
    page = thread(mira, call)
    assert f'<a href="/desk/tool_call/{call.pk}/">hub_post waits for approval</a>' in page


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"state": "done", "decided_by": "operator:mira"}, "hub_post ran (approved by mira)"),
        ({"state": "done", "decided_by": "rule:4"}, "hub_post ran (allowed by a rule)"),
        ({"state": "done", "decided_by": "policy"}, "hub_post ran"),
        ({"state": "failed"}, "hub_post failed"),
        ({"state": "denied", "decided_by": "operator:mira", "said": "Not there."},
         "hub_post denied by mira: Not there."),
        ({"state": "expired"}, "hub_post expired: not decided in time"),
    ],
)  # fmt: skip
def test_the_margin_tells_what_came_of_it(mira: Client, facts: dict[str, Any], expected: str):
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(decided_at=NOON, ended_at=NOON, **facts)
    assert expected in thread(mira, call)


def test_many_calls_of_one_kind_are_one_line(mira: Client):
    first = make_call()
    assert first.item.notification is not None
    for number in range(3):
        ToolCall.objects.create(
            agent=first.agent, presence=first.presence, activation=first.activation,
            item=first.item, call_id=f"more-{number}", tool="hub_search", risk="read",
            state="done", made_at=NOON, ended_at=NOON, thread=first.thread, digest="d",
        )  # fmt: skip
    assert "hub_search ran, 3 times" in thread(mira, first)


def test_an_unconfirmed_call_leads_to_where_it_is_settled(mira: Client):
    call = make_unknown(make_call())
    page = thread(mira, call)
    assert f'<a href="/desk/tool_unknown/{call.pk}/">' in page
    assert "nobody knows whether it ran" in page


def test_the_timeline_tells_of_call_decision_and_end(mira: Client):
    call = make_call()
    facts = {"state": "failed", "decided_by": "operator:mira", "decided_at": NOON, "ended_at": NOON}
    ToolCall.objects.filter(pk=call.pk).update(why="The service is gone.", **facts)
    page = life(mira, call)
    for expected in ("Iris calls hub_post", "hub_post approved", "hub_post failed",
                     "The service is gone."):  # fmt: skip
        assert expected in page


def test_calls_of_agents_out_of_reach_are_not_told(client: Client):
    call = make_call()
    other = make_presence(account=None)
    operator = make_operator(agents=[other.agent.slug])
    operator.surfaces.add(call.presence.account.surface)
    client.force_login(operator)
    assert "hub_post" not in thread(client, call)


def test_a_thread_takes_one_query_for_all_calls(mira: Client, django_assert_max_num_queries: Any):
    presence = make_presence()
    call = make_call(presence=presence)
    notification = call.item.notification
    assert notification is not None
    for _ in range(10):
        post = notification.message.post
        beside = make_message(post=post, parent=post, account=presence.account)
        make_call(presence=presence, message=beside)
    with django_assert_max_num_queries(12):
        page = thread(mira, call)
    assert len(set(re.findall(r"/desk/tool_call/\d+/", page))) == 11
