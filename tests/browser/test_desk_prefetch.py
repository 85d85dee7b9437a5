"""The next item is there before the key is pressed; what was decided is posted behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import sleep

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from surfaces.desk import decisions
from surfaces.drafts import services as draft_services
from surfaces.models import Account, DeskViewer, Draft, Message
from tests.browser.keyboard import press, wait_until_keys_decide
from tests.browser.mixed_desk import draft, suspect
from tests.browser.test_desk import account, arrived, at  # noqa: F401 - a fixture among them
from tests.factories import make_operator

OTHER_WORDS = "Other words than those that were fetched."


@pytest.fixture
def drafts(account: Account) -> list[Draft]:  # noqa: F811
    """Three drafts, in the order of the queue."""
    return [draft(account, number) for number in (3, 2, 1)]


@pytest.fixture
def desk(visit, drafts) -> Page:
    """The first item is in the pane, the panes of the other two are fetched."""
    page = visit(make_operator(), "/me")
    return with_panes(page, 2)


def with_panes(page: Page, number: int) -> Page:
    fetched: list[str] = []
    page.on("requestfinished", lambda asked: fetched.append(asked.url)
            if asked.headers.get("x-prefetch") else None)  # fmt: skip
    page.goto("/desk/")
    arrived(page, "")
    for _ in range(200):
        if len(fetched) == number:
            page.wait_for_timeout(100)
            return page
        page.wait_for_timeout(50)
    pytest.fail(f"{len(fetched)} of {number} panes were fetched ahead")


def hold_posts(page: Page) -> Callable[[], None]:
    """Keep what is posted from the server until the returned function is called."""
    held: list[Route] = []
    is_open: list[bool] = []

    def pass_on(route: Route) -> None:
        if route.request.method == "POST" and not is_open:
            held.append(route)
        else:
            route.continue_()

    def release() -> None:
        is_open.append(True)
        for route in held:
            route.continue_()

    page.route("**/desk/**", pass_on)
    return release


def key_of(row: Draft) -> str:
    return f"draft-{row.pk}"


def states(drafts: list[Draft]) -> list[str]:
    return [Draft.objects.get(pk=row.pk).state for row in drafts]


def test_the_next_item_is_shown_before_the_decision_is_answered(desk, drafts):
    release = hold_posts(desk)
    press(desk, "a")
    expect(desk.locator(f"#item[data-item={key_of(drafts[1])}]")).to_be_visible()
    expect(desk.locator(".items > li")).to_have_count(2)
    assert desk.url.endswith(f"/desk/draft/{drafts[1].pk}/?")
    assert states(drafts) == ["waiting"] * 3
    release()
    expect(desk.locator(".toast")).to_contain_text("Approved the reply")
    expect(desk.locator(".side [data-live-count=desk]")).to_have_text("2")
    assert at(desk) == key_of(drafts[1])
    assert states(drafts) == ["approved", "waiting", "waiting"]


def test_undo_pressed_at_once_takes_back_the_last_decision(desk, drafts):
    release = hold_posts(desk)
    press(desk, "a")
    wait_until_keys_decide(desk)
    press(desk, "a", "u")
    release()
    expect(desk.locator(".toast")).to_contain_text("Undone")
    assert states(drafts) == ["approved", "waiting", "waiting"]
    assert at(desk) == key_of(drafts[1])


def test_a_refused_decision_brings_its_item_back_with_a_sentence(desk, drafts):
    jonas = make_operator(username="jonas", first_name="Jonas", last_name="Weil")
    first = drafts[0]
    draft_services.approve(first, digest=first.digest(), by=jonas.actor, now=timezone.now())
    press(desk, "a")
    told = desk.get_by_role("alert")
    expect(told).to_contain_text("Jonas Weil decided this")
    row = desk.locator(f".items > li:first-child#row-{key_of(first)}")
    expect(row).to_contain_text("not done")
    assert at(desk) == key_of(drafts[1])  # the answer does not take the pane
    told.get_by_role("link", name="Open").click()
    said = "This item no longer needs a decision. Jonas Weil"
    expect(desk.locator("#item")).to_contain_text(said)
    expect(desk.locator("#refusals > *")).to_have_count(0)
    assert states(drafts) == ["approved", "waiting", "waiting"]


def test_a_refusal_leaves_the_queue_and_the_item_where_they_are_and_one_row_current(desk, drafts):
    first = drafts[0]
    draft_services.approve(first, digest=first.digest(), by="operator:jonas", now=timezone.now())
    before = [desk.locator(place).bounding_box() for place in ("#queue", "#item")]
    press(desk, "a")
    expect(desk.locator("#refusals .toast")).to_be_visible()
    assert [desk.locator(place).bounding_box() for place in ("#queue", "#item")] == before
    expect(desk.locator(".items a[aria-current]")).to_have_count(1)


def test_a_pane_that_changed_after_it_was_fetched_is_corrected(desk, drafts):
    second = drafts[1]
    Draft.objects.filter(pk=second.pk).update(text=OTHER_WORDS)
    press(desk, "j")
    expect(desk.locator("#item .draft")).to_contain_text("When I said repetition")
    expect(desk.locator("#item .draft")).to_contain_text(OTHER_WORDS)
    expect(desk.get_by_role("status").filter(has_text="changed after you opened")).to_be_visible()
    press(desk, "a")  # pressed in the moment of the change: nobody has read the new words
    assert at(desk) == key_of(second)
    desk.wait_for_timeout(700)
    press(desk, "a")
    arrived(desk, key_of(second))
    expect(desk.locator(".toast")).to_contain_text("Approved")
    assert states(drafts) == ["waiting", "approved", "waiting"]


@pytest.mark.parametrize("key", ["a", "s", "l"])
def test_a_decision_on_words_that_changed_decides_nothing(desk, drafts, key):
    second = drafts[1]
    Draft.objects.filter(pk=second.pk).update(text=OTHER_WORDS)
    press(desk, "j", key)
    if key == "l":  # putting off decides on no words
        expect(desk.locator(".toast")).to_contain_text("Snoozed")
        return
    expect(desk.get_by_role("alert")).to_contain_text("It changed after you opened it.")
    desk.get_by_role("alert").get_by_role("link", name="Open").click()
    expect(desk.locator("#item .draft")).to_contain_text(OTHER_WORDS)
    expect(desk.locator("#item")).to_contain_text("Not done. It changed after you opened it.")
    assert states(drafts) == ["waiting"] * 3


def test_an_edited_comment_is_no_spam_by_a_decision_on_its_former_words(visit, account):  # noqa: F811
    first, second = suspect(account, 2), suspect(account, 1)
    page = with_panes(visit(make_operator(), "/me"), 1)
    Message.objects.filter(pk=second.pk).update(content=OTHER_WORDS)
    press(page, "s")
    wait_until_keys_decide(page)
    press(page, "s")
    expect(page.get_by_role("alert")).to_contain_text("It changed after you opened it.")
    assert list(Message.objects.spam()) == [first]


def test_what_is_typed_is_not_replaced_by_a_change(desk, drafts):
    second = drafts[1]
    Draft.objects.filter(pk=second.pk).update(text=OTHER_WORDS)
    press(desk, "j", "r")
    desk.keyboard.type("Tone of it")
    expect(desk.locator("#item").get_by_role("button", name="Show the change")).to_be_visible()
    expect(desk.locator("#d-why")).to_have_value("Tone of it")
    press(desk, "Enter")
    told = desk.get_by_role("alert")
    expect(told).to_contain_text("It changed after you opened it.")
    told.get_by_role("link", name="Open").click()
    expect(desk.locator("#item .draft")).to_contain_text(OTHER_WORDS)
    expect(desk.locator("#d-why")).to_have_value("Tone of it")
    assert states(drafts) == ["waiting"] * 3


def test_without_a_network_the_item_comes_back_with_what_was_typed(desk, drafts):
    desk.context.set_offline(True)
    press(desk, "r")
    desk.keyboard.type("Tone of it")
    press(desk, "Enter")
    told = desk.get_by_role("alert").filter(has_text="the server did not answer")
    expect(told).to_be_visible()
    expect(desk.locator(".items > li")).to_have_count(3)
    assert at(desk) == key_of(drafts[1])
    desk.context.set_offline(False)
    told.get_by_role("link", name="Open").click()
    expect(desk.locator("#d-why")).to_have_value("Tone of it")
    press(desk, "r")
    arrived(desk, key_of(drafts[0]))
    expect(desk.locator(".toast")).to_contain_text("Rejected")
    assert states(drafts) == ["withdrawn", "waiting", "waiting"]


def test_who_is_signed_out_is_told_that_nothing_was_decided(desk, drafts):
    desk.context.clear_cookies(name="sessionid")
    press(desk, "a")
    expect(desk.get_by_role("alert")).to_contain_text("you are signed out")
    assert states(drafts) == ["waiting"] * 3


def test_fetching_ahead_announces_no_viewer(desk, drafts):
    assert DeskViewer.objects.get().item_id == drafts[0].pk
    with desk.expect_response(lambda answer: answer.status == 304):
        press(desk, "j")
    assert DeskViewer.objects.get().item_id == drafts[1].pk


def test_what_was_decided_is_posted_when_the_page_is_left(desk, drafts, monkeypatch):
    decide = decisions.decide

    def decide_slowly(*given):
        sleep(1)
        return decide(*given)

    monkeypatch.setattr(decisions, "decide", decide_slowly)
    press(desk, "a")
    wait_until_keys_decide(desk)
    press(desk, "a")
    desk.close()
    for _ in range(80):
        if states(drafts) == ["approved", "approved", "waiting"]:
            return
        sleep(0.1)
    pytest.fail(f"left behind: {states(drafts)}")


def test_a_double_click_decides_one_item(desk, drafts):
    desk.get_by_role("button", name=re.compile("Approve")).first.dblclick()
    expect(desk.locator(".toast")).to_contain_text("Approved")
    desk.wait_for_load_state("networkidle")
    assert states(drafts) == ["approved", "waiting", "waiting"]
