"""Tool calls on the desk: kept by a trigger, shown as they are, decided once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dialogue.models import Presence, ToolCall
from surfaces.models import AuditEvent, DeskItem
from tests.dialogue.approvals.desk_calls import by_stranger, know_tools, make_call, make_unknown
from tests.factories import NOON, make_message, make_operator, make_presence

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture(autouse=True)
def _tools() -> None:
    know_tools()


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator(username="mira", first_name="Mira", last_name="Kovač"))
    return client


def granted() -> Presence:
    return make_presence(settings={"grants": ["*:*"]})


def item_of(call: ToolCall) -> DeskItem | None:
    return DeskItem.objects.filter(kind__in=["tool_call", "tool_unknown"], item_id=call.pk).first()


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def at(call: ToolCall, act: str = "", kind: str = "tool_call") -> str:
    return f"/desk/{kind}/{call.pk}/{act}"


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


# ── decisions ────────────────────────────────────────────────────────────


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


# ── unconfirmed ──────────────────────────────────────────────────────────


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


# ── many ─────────────────────────────────────────────────────────────────


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


def test_what_ends_in_the_moment_it_is_approved_leaves_the_desk(desk):
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = desk.post(at(call, "approve"), {"digest": call.digest})
    assert answer.status_code == 409
    assert "Nobody decided in time." in words(answer)
    call.refresh_from_db()
    assert (call.state, item_of(call)) == ("expired", None)
    assert AuditEvent.objects.called("tool_call.expired").about(call).count() == 1


def test_the_bulk_bar_says_that_agents_read_the_reason(desk):
    make_call()
    assert "agents read it where their tool calls are denied" in words(desk.get("/desk/"))
