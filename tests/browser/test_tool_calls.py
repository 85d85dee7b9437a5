"""Tool calls of agents, decided by keyboard alone, by two people, and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from playwright.sync_api import Page, expect

from dialogue.approvals import listing
from dialogue.models import ApprovalRule, Presence, ToolCall
from dialogue.tools.registry import TOOLS
from surfaces.models import DeskItem
from tests.browser.barriers import equip, inspect
from tests.browser.keyboard import press, wait_until_keys_decide
from tests.dialogue.approvals.desk_calls import (
    CONTENT,
    by_stranger,
    know_tools,
    make_call,
    make_unknown,
)
from tests.factories import make_message, make_operator, make_presence

STEPS = 40


@pytest.fixture(autouse=True)
def _tools() -> Iterator[None]:
    before = dict(TOOLS)
    know_tools()
    yield
    TOOLS.clear()
    TOOLS.update(before)


@pytest.fixture
def presence(transactional_db: None) -> Presence:
    return make_presence(settings={"grants": ["*:*"]})


class Keys:
    """Presses keys and counts them as steps."""

    def __init__(self, page: Page) -> None:
        self.page, self.steps = page, 0

    def press(self, *keys: str) -> None:
        press(self.page, *keys)
        self.steps += len(keys)

    def write(self, words: str) -> None:
        self.page.keyboard.type(words)
        self.steps += 1

    def at(self, call: ToolCall, kind: str = "tool_call") -> None:
        """Wait until this call stands in the pane and can be decided."""
        expect(self.page.locator(f"#item[data-item={kind}-{call.pk}]")).to_be_visible()
        wait_until_keys_decide(self.page)


def states() -> dict[int, str]:
    return dict(ToolCall.objects.values_list("pk", "state"))


def settled(page: Page) -> None:
    page.wait_for_load_state("networkidle")


def test_40_steps_through_every_decision_by_keyboard_alone(visit, presence):
    stranger = make_message(account=presence.account, author="mallory")
    plain = make_call(presence=presence, arguments={"content": "One two three four."})
    undone = make_call(presence=presence, arguments={"content": "Reefs have no clocks at all."})
    edited = make_call(
        presence=presence, arguments={"content": "Low water at noon.", "community": "tides"}
    )
    risky = make_call(
        presence=presence, tool="launch", risk="execute", arguments={"depth": 3},
        sources={"depth": [by_stranger(stranger)]},
    )  # fmt: skip
    alike = [
        make_call(presence=presence, arguments={"content": CONTENT, "reply_to": str(number)})
        for number in range(3)
    ]
    ruled = make_call(presence=presence, arguments={"content": "Tide", "community": "tables"})
    lost = make_unknown(make_call(presence=presence, arguments={"content": "Where did it go?"}))
    again = make_unknown(make_call(presence=presence, arguments={"content": "Once more."}))

    page = visit(make_operator(username="mira"), "/desk/")
    equip(page.context)
    keys = Keys(page)
    # Read: down and up; select, and select nothing.
    keys.at(plain)
    keys.press("j")
    keys.at(undone)
    keys.press("k", "x", "Escape")
    keys.at(plain)
    # Approve.
    keys.press("a")
    keys.at(undone)
    # Deny with words, undo that, and deny for a reason that is offered.
    keys.press("r")
    expect(page.locator("#d-why")).to_be_focused()
    keys.write("Nobody asked for this.")
    keys.press("Enter")
    keys.at(edited)
    expect(page.locator(".toast")).to_contain_text("Denied hub_post")
    assert states()[undone.pk] == "denied"
    keys.press("u")
    keys.at(undone)
    keys.press("r", "Shift+Tab", "Space", "Escape", "r")
    keys.at(edited)
    # Edit: an error at its field, then the right thing.
    keys.press("e")
    expect(page.locator("#id_arg-content")).to_be_focused()
    keys.press("Control+a", "Delete", "Tab", "Tab", "Tab", "Tab", "Enter")
    expect(page.locator("#error-content")).to_contain_text("required")
    page.locator("#id_arg-content").focus()
    keys.write("High water at noon.")
    keys.press("Tab", "Tab", "Tab", "Tab", "Enter")
    keys.at(risky)
    # Of high risk, with a stranger's words: snoozed.
    expect(page.locator("#item")).to_contain_text("Text by @mallory went into it")
    keys.press("l")
    keys.at(alike[0])
    # Three that are alike, denied together.
    keys.press("y")
    expect(page.locator("#y-why")).to_be_focused()
    keys.write("Once is enough.")
    keys.press("Tab", "Enter")
    expect(page.get_by_role("heading", name="3 of 3 done")).to_be_visible()
    # Always allow, from the form of its own.
    keys.press("j")
    keys.at(ruled)
    keys.press("w")
    expect(page.get_by_role("heading", name="Always allow Iris hub_post")).to_be_visible()
    page.locator("[name=of-content]").focus()
    keys.press("Control+a")
    keys.write("*")
    keys.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved yet")
    page.locator("[name=of-content]").focus()
    keys.press("Enter")
    expect(page.locator(".toast")).to_contain_text("always allowed")
    # Unconfirmed: one ran, one runs again.
    keys.at(lost, "tool_unknown")
    keys.press("a")
    keys.at(again, "tool_unknown")
    keys.press("t")
    expect(page.get_by_role("heading", name="Nothing needs a decision")).to_be_visible()
    settled(page)
    found = states()
    assert [found[call.pk] for call in (plain, undone, edited, risky, ruled, lost, again)] == [
        "approved", "denied", "approved", "waiting", "approved", "done", "approved"
    ]  # fmt: skip
    edited.refresh_from_db()
    assert edited.arguments["content"] == "High water at noon."
    assert {found[call.pk] for call in alike} == {"denied"}
    assert ApprovalRule.objects.get().patterns["content"] == "*"
    assert [item.item_id for item in DeskItem.objects.all()] == [risky.pk]  # snoozed
    assert keys.steps >= STEPS, keys.steps


def test_every_state_of_the_pane_is_open_to_everybody(visit, presence):
    """Folded out, refused, with words of strangers: in both themes, at both widths."""
    calls = [
        make_call(
            presence=presence, sources={"content": [by_stranger()]},
            arguments={"content": f"{CONTENT} \u202e" * 9, "reply_to": str(number)},
        )
        for number in range(2)
    ]  # fmt: skip
    page = visit(make_operator(), "/healthz")
    equip(page.context)
    found = []
    for key in ("", "e", "y"):
        page.goto(f"/desk/tool_call/{calls[0].pk}/")
        expect(page.locator("#queue .scroll-list")).to_be_visible()
        if key:
            press(page, key)
        found += [f"{key}: {each}" for each in inspect(page)]
    page.goto(f"/desk/tool_call/{calls[0].pk}/")
    press(page, "e")
    page.locator("#id_arg-content").fill("")
    page.get_by_role("button", name="Approve with these arguments").click()
    expect(page.locator("#error-content")).to_be_visible()
    found += [f"refused: {each}" for each in inspect(page)]
    assert not found, "\n".join(found)


def test_a_switch_among_the_arguments_stands_under_its_name(visit, presence):
    call = make_call(presence=presence, tool="launch", risk="execute", arguments={"where": "reef"})
    page = visit(make_operator(), f"/desk/tool_call/{call.pk}/", java_script_enabled=False)
    page.locator("summary", has_text="Edit").click()
    name, box = (
        page.locator(place).bounding_box()
        for place in ("label[for=id_arg-is_quiet]", "#id_arg-is_quiet")
    )
    assert abs(name["x"] - box["x"]) < 6
    assert box["width"] < 40  # a browser draws it in the middle of what is wider


@pytest.mark.parametrize("with_script", [True, False])
def test_a_call_is_edited_and_a_rule_made_with_and_without_script(visit, presence, with_script):
    call = make_call(presence=presence, arguments={"content": "Low water."})
    page = visit(make_operator(), f"/desk/tool_call/{call.pk}/", java_script_enabled=with_script)
    page.locator("#item summary", has_text="Edit…").click()
    page.locator("#id_arg-content").fill("")
    page.get_by_role("button", name="Approve with these arguments").click()
    expect(page.get_by_role("alert")).to_contain_text("correct the arguments")
    expect(page.locator("#error-content")).to_contain_text("required")
    page.get_by_role("link", name="Always allow…").click()
    page.locator("[name=approves]").uncheck()
    page.get_by_role("button", name="Always allow", exact=True).click()
    expect(page.get_by_role("heading", name="Always allowed")).to_be_visible()
    assert ApprovalRule.objects.get().patterns["content"] == "Low water."
    page.locator("summary", has_text="Revoke…").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.locator(".badge", has_text="revoked by")).to_be_visible()


def test_on_a_phone_a_call_is_denied_with_words(visit, presence):
    call = make_call(presence=presence)
    page = visit(
        make_operator(), f"/desk/tool_call/{call.pk}/", viewport={"width": 390, "height": 844}
    )
    page.locator("#d-why").fill("Not on this account.")
    page.get_by_role("button", name="Deny").click()
    expect(page.locator(".toast")).to_contain_text("Denied hub_post")
    call.refresh_from_db()
    assert (call.state, call.said) == ("denied", "Not on this account.")


def test_two_people_approve_one_call_and_the_later_one_is_told_by_whom(visit, presence):
    """One at the pane, one from the bulk bar, each with what they saw before."""
    call, other = make_call(presence=presence), make_call(presence=presence)
    mira = make_operator(username="mira", first_name="Mira", last_name="Kovač")
    jonas = make_operator(username="jonas", first_name="Jonas", last_name="Weil")
    first = visit(mira, f"/desk/tool_call/{call.pk}/")
    second = visit(jonas, "/desk/")
    for row in (call, other):
        second.locator(f"#row-tool_call-{row.pk} input[type=checkbox]").check()
    press(first, "a")
    expect(first.locator(".toast")).to_contain_text("Approved hub_post")
    press(second, "a")
    expect(second.get_by_role("heading", name="1 of 2 done")).to_be_visible()
    expect(second.locator("#item")).to_contain_text("Mira Kovač decided this")
    call.refresh_from_db()
    other.refresh_from_db()
    assert (call.state, call.decided_by) == ("approved", "operator:mira")
    assert (other.state, other.decided_by) == ("approved", "operator:jonas")


@pytest.mark.parametrize("turn", range(5))
def test_two_approvals_in_one_moment_are_one(presence, turn):
    call = make_call(presence=presence)
    stamp = listing.load([call.pk])[call.pk].stamp  # type: ignore[attr-defined]
    key, start = f"tool_call-{call.pk}", Barrier(2)
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("mira", f"/desk/tool_call/{call.pk}/approve", {"digest": call.digest}),
        ("jonas", "/desk/bulk", {"x": [key], "act": "approve", f"stamp-{key}": stamp}),
    ]
    clients = {who: Client() for who, _path, _given in requests}
    for who, client in clients.items():
        client.force_login(make_operator(username=who))
    told: dict[str, str] = {}

    def post(who: str, path: str, given: dict[str, Any]) -> None:
        start.wait()
        answer = clients[who].post(path, given, headers={"HX-Request": "true"})
        told[who] = " ".join(answer.content.decode().split())
        connection.close()

    people = [Thread(target=post, args=each) for each in requests]
    for person in people:
        person.start()
    for person in people:
        person.join()
    call.refresh_from_db()
    winner = call.decided_by.removeprefix("operator:")
    loser = "jonas" if winner == "mira" else "mira"
    assert call.state == "approved"
    assert f"{winner} decided this" in told[loser]
    assert "decided this" not in told[winner]
