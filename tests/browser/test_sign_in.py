from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.keyboard import press


def test_five_wrong_passwords_and_then_even_the_right_one_waits(visit, mira):
    page = visit(None, "/sign-in")
    for left in [
        "4 attempts left",
        "3 attempts left",
        "2 attempts left",
        "1 attempt left",
        "No attempts left",
    ]:
        page.get_by_label("Name").fill("mira")
        page.get_by_label("Password").fill("guessed")
        press(page, "Enter")
        expect(page.get_by_role("alert")).to_contain_text(left)
    page.get_by_label("Password").fill("a good long password")
    press(page, "Enter")
    expect(page.get_by_role("alert")).to_contain_text("Wait 15 min")
    expect(page.get_by_label("Name")).to_have_value("mira")


def test_signing_out_ends_the_session_in_other_tabs_too(page_of_mira):
    page = page_of_mira("/messages/")
    other = page.context.new_page()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="Sign in to Colloquy")).to_be_visible()
    page.locator(".msgs > li").first.get_by_role("button", name="Spam").click()
    expect(page.get_by_role("heading", name="Sign in to Colloquy")).to_be_visible()


def test_a_viewer_reads_everything_and_finds_nothing_to_press(visit, demo, waiting):
    from tests.factories import make_operator

    page = visit(make_operator(role="viewer"), f"/drafts/{waiting.pk}/")
    expect(page.locator("#item")).to_contain_text("read-only access")
    assert page.get_by_role("button", name="Approve").count() == 0
    press(page, "a")
    expect(page.locator("#item .badge.wait")).to_have_text("waiting")


def test_a_page_that_demands_a_new_password_asks_for_nothing_else(visit):
    """Where a stream was asked for, this page was the answer, and the browser complained."""
    from tests.factories import make_operator

    page = visit(make_operator(role="viewer", owes_password=True), "/password")
    assert page.locator("script[data-live]").count() == 0
