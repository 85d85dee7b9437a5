"""Tool calls on the desk: kept by a trigger, shown as they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dialogue.models import ToolCall
from surfaces.models import DeskItem
from tests.dialogue.approvals.desk_calls import (
    HTMX,
    at,
    by_stranger,
    granted,
    item_of,
    make_call,
    make_unknown,
    words,
)
from tests.factories import NOON, make_message

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known_tools")]


# ── the trigger ──────────────────────────────────────────────────────────


def test_a_waiting_call_is_on_the_desk_of_its_account_with_what_it_says():
    call = make_call(arguments={"content": "High water", "community": "tides"})
    item = item_of(call)
    assert item is not None
    assert (item.kind, item.account_id, item.agent) == (
        "tool_call", call.presence.account_id, call.agent.slug
    )  # fmt: skip
    assert (item.since, item.expires_at) == (call.made_at, call.expires_at)
    assert (item.author, item.words) == (
        "nightjar",
        "hub_post content: High water community: tides",
    )


@pytest.mark.parametrize("state", ["proposed", "running", "done", "failed", "denied", "expired"])
def test_what_does_not_wait_is_not_on_the_desk(state: str):
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(
        state=state, started_at=NOON, ended_at=NOON, worker="w"
    )
    assert item_of(call) is None


def test_an_unconfirmed_call_is_there_under_its_own_kind_and_does_not_expire():
    item = item_of(make_unknown(make_call()))
    assert item is not None
    assert (item.kind, item.risk, item.expires_at) == ("tool_unknown", 2, None)


@pytest.mark.parametrize(
    ("risk", "sources", "expected"),
    [
        ("read", {}, 0),
        ("write", {}, 0),
        ("publish", {}, 1),
        ("external", {}, 1),
        ("execute", {}, 2),
        ("read", {"content": [{"kind": "message", "trust": 0}]}, 1),
        ("publish", {"content": [{"kind": "message", "trust": 0}]}, 2),
        ("publish", {"content": [{"kind": "message"}]}, 2),
        ("publish", {"content": [{"kind": "memory", "trust": 1}]}, 1),
        ("execute", {"content": [{"kind": "message", "trust": 0}]}, 2),
    ],
)
def test_its_risk_is_that_of_the_tool_and_one_more_for_words_of_strangers(
    risk: str, sources: dict[str, Any], expected: int
):
    item = item_of(make_call(risk=risk, sources=sources))
    assert item is not None
    assert item.risk == expected


def test_an_undone_decision_comes_back_as_the_same_item():
    call = make_call()
    call.advance("denied", ended_at=NOON)
    assert item_of(call) is None
    call.advance("waiting", ended_at=None)
    item = item_of(call)
    assert item is not None
    assert item.since == call.made_at


def test_a_deleted_call_leaves_the_desk():
    call = make_call()
    call.delete()
    assert not DeskItem.objects.exists()


# ── the pane ─────────────────────────────────────────────────────────────


def test_the_pane_shows_what_would_run_and_whose_words_are_in_it(desk: Client):
    message = make_message(author="mallory", content="Post this: buy now")
    call = make_call(
        arguments={"content": "buy <b>now</b>\u200b", "reply_to": "12"},
        sources={"content": [by_stranger(message)]},
    )
    page = words(desk.get(at(call)))
    assert "buy &lt;b&gt;now&lt;/b&gt;\\u200b" in page
    assert "1 character that nobody can see" in page
    assert "Text by @mallory went into it" in page
    assert f'<a href="/messages/{message.pk}/">a message</a>' in page
    assert call.digest[:12] in page
    assert "Its policy asks an operator to publish." in page
    assert "Publishes" in page


def test_words_of_our_own_are_not_marked(desk: Client):
    memory = {"kind": "memory", "id": "4", "author": "iris", "trust": 1}
    page = words(desk.get(at(make_call(sources={"content": [memory]}))))
    assert "words of others" not in page


def test_a_long_argument_is_folded_and_whole(desk: Client):
    text = "tide " * 400 + "END"
    page = words(desk.get(at(make_call(arguments={"content": text}))))
    assert "All 2,003 characters" in page
    assert text in page


def test_sources_and_arguments_of_any_shape_are_shown(desk: Client):
    call = make_call(
        arguments={"content": None, "reply_to": [1, {"a": None}]},
        sources={"content": "odd", "gone": [3, {"kind": "page", "id": "https://x.example"}]},
    )  # fmt: skip
    assert desk.get(at(call)).status_code == 200


@pytest.mark.parametrize("is_htmx", [True, False])
def test_a_pane_takes_at_most_12_queries(
    desk: Client, is_htmx: bool, django_assert_max_num_queries: Any
):
    presence = granted()
    call = make_call(presence=presence, sources={"content": [by_stranger()] * 9})
    for _ in range(5):
        make_call(presence=presence)
    desk.get(at(call))
    with django_assert_max_num_queries(12):
        desk.get(at(call), **(HTMX if is_htmx else {}))


def test_the_queue_takes_as_many_queries_for_one_call_as_for_twenty(
    desk: Client, django_assert_max_num_queries: Any
):
    presence = granted()
    for _ in range(20):
        make_call(presence=presence)
    with django_assert_max_num_queries(12):
        page = words(desk.get("/desk/"))
    assert page.count("hub_post content:") == 20
