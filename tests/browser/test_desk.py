"""The desk by keyboard alone, with two people at it, and on a phone."""

from __future__ import annotations

import statistics
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from surfaces.models import Account, DeskItem, Draft, Message
from tests.browser.keyboard import press, wait_until_keys_decide
from tests.browser.mixed_desk import draft, lay_out, suspect
from tests.factories import make_account, make_operator, make_post

MANY = 100
# What a moderator presses, by kind; twice in three drafts say yes, the third is rejected.
KEYS = {"suspect": "s", "lapsed": "a", "failed": "t", "unknown": "t", "given_up": "t"}
# Times every item in the page itself: from the key to the next item's arrival in the pane.
CLOCK = """
addEventListener("keydown", (event) => { window.pressedAt ??= performance.now(); }, true);
window.took = [];
new MutationObserver(() => {
  const now = document.querySelector("#item")?.dataset.item ?? "";
  if (window.lastItem === undefined) { window.lastItem = now; return; }
  if (now === window.lastItem) return;
  window.lastItem = now;
  if (window.pressedAt) window.took.push(performance.now() - window.pressedAt);
  window.pressedAt = null;
}).observe(document, { childList: true, subtree: true });
"""


@pytest.fixture
def account(transactional_db) -> Account:
    account = make_account(name="gabriel@moltbook")
    make_post(account=account, title="What a surface is, and what it is not")
    return account


def at(page: Page) -> str:
    return page.locator("#item").get_attribute("data-item") or ""


def arrived(page: Page, before: str) -> str:
    """Wait until another item stands in the pane, or none."""
    expect(page.get_by_role("alert")).to_have_count(0)
    page.wait_for_function(
        "before => (document.querySelector('#item')?.dataset.item ?? '') !== before"
        " && !document.querySelector('.htmx-settling, .htmx-swapping')",
        arg=before,
    )
    return at(page)


def test_a_moderator_clears_100_mixed_items_by_keyboard_alone(visit, account, capsys):
    lay_out(account, MANY)
    page = visit(make_operator(), "/me")
    page.add_init_script(CLOCK)
    requests: list[str] = []
    page.goto("/desk/")
    expect(page.locator("#item[data-item]")).to_be_visible()
    page.on("request", lambda request: requests.append(request.method))
    page.evaluate("() => { window.took = []; window.pressedAt = null; }")
    decided = 0
    while key := at(page):
        kind = key.rpartition("-")[0]
        decided += 1
        if kind == "draft" and decided % 3 == 0:
            press(page, "r")
            expect(page.locator("#d-why")).to_be_focused()
            page.keyboard.type("Tone")
            page.evaluate("() => { window.pressedAt = null; }")
            press(page, "Enter")
        else:
            press(page, KEYS.get(kind, "a"))
        arrived(page, key)
        wait_until_keys_decide(page)
    took = sorted(page.evaluate("() => window.took"))
    p95 = took[int(len(took) * 0.95)]
    with capsys.disabled():
        print(
            f"\n{decided} items by keyboard: {statistics.median(took):.0f} ms median,"
            f" {p95:.0f} ms p95 from key to next item, {len(requests)} requests"
            f" ({requests.count('POST')} POST)"
        )
    expect(page.get_by_role("heading", name="Nothing needs a decision")).to_be_visible()
    assert decided == MANY == requests.count("POST")
    assert not DeskItem.objects.exists()
    assert not Message.objects.suspect().exists()


def test_j_and_k_move_and_the_item_follows(visit, account):
    lay_out(account, 4)
    page = visit(make_operator(), "/desk/")
    first = arrived(page, "")
    press(page, "j")
    second = arrived(page, first)
    press(page, "k")
    assert arrived(page, second) == first
    assert page.url.endswith(f"/desk/{first.replace('-', '/')}/?")


def test_a_key_pressed_before_the_item_came_is_for_the_item_that_comes(visit, account):
    """Quick fingers: J then A decides on the second, never on the first."""
    for number in range(3):
        draft(account, number)
    page = visit(make_operator(), "/desk/")
    first = arrived(page, "")
    press(page, "j", "a")
    expect(page.locator(".items > li")).to_have_count(2)
    expect(page.locator(".toast")).to_contain_text("Approved")
    still = {item.key for item in DeskItem.objects.all()}
    assert first in still
    assert len(still) == 2


def test_undo_brings_the_item_back_for_ten_seconds(visit, account):
    made = draft(account, 1)
    page = visit(make_operator(), "/desk/")
    key = arrived(page, "")
    press(page, "a")
    arrived(page, key)
    made.refresh_from_db()
    assert made.state == "approved"
    assert made.not_before - made.decided_at == timedelta(seconds=10)
    press(page, "u")
    expect(page.locator(f"#item[data-item={key}]")).to_be_visible()
    made.refresh_from_db()
    assert made.state == "waiting"


def test_a_second_key_does_not_decide_on_an_item_that_was_shown_this_moment(visit, account):
    made = [draft(account, number) for number in (3, 2, 1)]
    keys = [f"draft-{row.pk}" for row in made]
    page = visit(make_operator(), "/desk/")
    assert arrived(page, "") == keys[0]
    press(page, "a")
    page.wait_for_timeout(120)
    press(page, "a")
    page.wait_for_timeout(300)
    page.wait_for_load_state("networkidle")
    assert at(page) == keys[1]
    assert {item.key for item in DeskItem.objects.all()} == set(keys[1:])
    wait_until_keys_decide(page)
    press(page, "a")
    assert arrived(page, keys[1]) == keys[2]
    page.wait_for_load_state("networkidle")  # the decision is posted behind the page


def test_undo_steps_back_through_every_decision_that_can_be_undone(visit, account):
    made = [draft(account, number) for number in (3, 2, 1)]
    page = visit(make_operator(), "/desk/")
    for row in made[:2]:
        expect(page.locator(f"#item[data-item=draft-{row.pk}]")).to_be_visible()
        wait_until_keys_decide(page)
        press(page, "a")
    expect(page.locator(f"#item[data-item=draft-{made[2].pk}]")).to_be_visible()
    for row in reversed(made[:2]):
        expect(page.locator("#toasts [data-key=u]")).to_be_visible()
        press(page, "u")
        expect(page.locator(f"#item[data-item=draft-{row.pk}]")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("Undone")
    expect(page.locator("#toasts [data-key=u]")).to_have_count(0)
    assert {row.state for row in Draft.objects.all()} == {"waiting"}


def test_many_are_decided_at_once_with_what_came_of_each(visit, account):
    for number in range(3):
        suspect(account, number)
    moved = draft(account, 5)
    page = visit(make_operator(), "/desk/")
    arrived(page, "")
    for _ in range(4):
        press(page, "x", "j")
        page.wait_for_timeout(150)
    Draft.objects.filter(pk=moved.pk).update(text="Other words than those on the page.")
    press(page, "s")
    expect(page.get_by_role("heading", name="3 of 4 done")).to_be_visible()
    expect(page.locator("#item")).to_contain_text("It changed after you opened it.")
    assert Message.objects.spam().count() == 3


def test_two_people_at_one_item_make_one_decision_and_the_other_is_told(visit, account):
    made = draft(account, 1)
    mira = make_operator(username="mira", first_name="Mira", last_name="Kovač")
    jonas = make_operator(username="jonas", first_name="Jonas", last_name="Weil")
    place = f"/desk/draft/{made.pk}/"
    first, second = visit(mira, place), visit(jonas, place)
    expect(second.locator("#readers")).to_contain_text("Mira Kovač opened this first")
    press(second, "a")
    arrived(second, f"draft-{made.pk}")
    first.locator("#d-why").fill("Tone")
    first.get_by_role("button", name="Reject").click()
    expect(first.get_by_role("alert")).to_contain_text("Jonas Weil decided this")
    made.refresh_from_db()
    assert (made.state, made.decided_by) == ("approved", "operator:jonas")


def test_on_a_phone_the_queue_or_the_item(visit, account):
    lay_out(account, 3)
    page = visit(make_operator(), "/desk/", viewport={"width": 390, "height": 844})
    expect(page.locator("#item")).to_be_hidden()
    page.locator(".items a[data-open]").first.click()
    expect(page.locator("#item")).to_be_visible()
    expect(page.locator("#queue")).to_be_hidden()
    page.get_by_role("link", name="Queue").click()
    expect(page.locator("#queue")).to_be_visible()


def test_without_script_a_suspect_is_read_and_decided(visit, account):
    comment = suspect(account, 1)
    page = visit(make_operator(), "/desk/", java_script_enabled=False)
    page.locator(".items a[data-open]").first.click()
    expect(page.locator("#item")).to_contain_text(comment.content[:40])
    page.get_by_role("button", name="Spam").click()
    expect(page.get_by_role("status").filter(has_text="Spam:")).to_be_visible()
    comment.refresh_from_db()
    assert comment.spam_status == "spam"


def test_an_item_decided_before_the_queue_arrived_is_not_in_it(visit, account):
    decided, kept = draft(account, 1), draft(account, 2)
    page = visit(make_operator(), "/me")
    late = []
    page.route("**/desk/rows?*", lambda route: late.append((route, route.fetch())))
    page.goto(f"/desk/draft/{decided.pk}/")
    page.wait_for_function("() => document.querySelector('#item').dataset.item")
    page.get_by_role("button", name="Approve").first.click()
    arrived(page, f"draft-{decided.pk}")
    [(route, answer)] = late
    route.fulfill(response=answer)
    expect(page.locator(f"#row-draft-{kept.pk}")).to_be_visible()
    expect(page.locator(f"#row-draft-{decided.pk}")).to_have_count(0)
